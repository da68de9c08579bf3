"""Figures of jobs for other programs."""
