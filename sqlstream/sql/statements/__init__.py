"""The statements: what each looks like, how it is read, written, split off and shortened."""
