"""Models that come as a graph: exporters, and what is checked of what they give."""
