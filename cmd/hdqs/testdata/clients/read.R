# Reads lists by URL with R's usual call: Rscript read.R FIELD < URLS. The output is that of read.py.
field <- commandArgs(trailingOnly = TRUE)
for (url in readLines("stdin")) {
  table <- read.csv(url)
  values <- table[[field]]
  cat(sprintf("%d\t%.6f\t%d\t%s\n", nrow(table), sum(values, na.rm = TRUE), sum(is.na(values)), paste(names(table), collapse = ",")))
}
