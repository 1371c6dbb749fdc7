"""Files written whole, processes, signals, stamps."""
