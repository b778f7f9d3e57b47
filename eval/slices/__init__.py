"""One file a slice: functions of text and gold alone, so that systems can be paired."""
