from invarlearn.cli import main

main()
