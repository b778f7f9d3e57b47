"""The ideas of the seeds, one small readable file each, tested against the numbers that the seeds print."""
