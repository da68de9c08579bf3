"""Indexes of Elasticsearch and OpenSearch, written by documents of JSON."""
