# Runs the programs in R that pages of records show: Rscript snippets.R < PLAN. Plan and output are those of snippets.py.
for (line in strsplit(readLines("stdin"), "\t")) {
  names <- new.env()
  sys.source(line[2], names)
  cat(sprintf("%s\t%d\n", line[1], nrow(names$records)))
}
