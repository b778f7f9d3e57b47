"""One command a file: options in, the packages called, files out."""
