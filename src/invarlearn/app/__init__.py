"""The application: readers of files, routes, models on disk, and the command line."""
