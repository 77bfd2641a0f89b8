"""All programs as subcommands of one, and models that are prepared when they are first used."""
