"""The report: one self-contained HTML file made from run folders."""
