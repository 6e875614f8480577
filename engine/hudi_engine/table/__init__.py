"""What a table is: configuration, timeline, files, rows. Snapshots, read through a storage."""
