"""What agents write, made readable: lines, the one fold, chat blocks. Pure, standard library only."""
