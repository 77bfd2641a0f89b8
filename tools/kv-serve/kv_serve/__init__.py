"""OpenAI's HTTP interface in front of kvmlir.Server."""
