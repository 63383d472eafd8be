# Reads lists by URL with R's usual call: Rscript read.R < PLAN. Plan and output are those of read.py.
for (line in strsplit(readLines("stdin"), "\t")) {
  table <- read.csv(line[1])
  values <- table[[line[2]]]
  cat(sprintf("%d\t%.6f\t%d\t%s\n", nrow(table), sum(values, na.rm = TRUE), sum(is.na(values)), paste(names(table), collapse = ",")))
}
