from invarlearn.app.cli import main

main()
