"""Speed, measured side by side in one run with what people use today."""
