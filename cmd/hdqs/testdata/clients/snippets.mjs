// Runs the programs in JavaScript that pages of records show: node snippets.mjs LANGUAGE < PLAN.
// Plan and output are those of snippets.py. For Apps Script there are stand-ins for Google's objects.
import {execFileSync} from "node:child_process";
import {readFileSync} from "node:fs";
import vm from "node:vm";

const runs = {
  async javascript(code) {
    const {records} = await import("data:text/javascript," + encodeURIComponent(code + "\nexport {records};"));
    return records.length;
  },
  sheets(code) {
    let rows = 0;
    const sheet = {
      clearContents: () => sheet,
      getRange: (row, column, height, width) => ({
        setValues(values) {
          if (row !== 1 || column !== 1 || values.length !== height) throw new Error("the range has another size");
          if (values.some((v) => v.length !== width)) throw new Error("a row has another width");
          rows = height - 1;
        },
      }),
    };
    const fetched = (url, options) => execFileSync("curl", ["-fsS",
      ...Object.entries(options.headers).flatMap(([name, value]) => ["-H", `${name}: ${value}`]), url], {maxBuffer: 1 << 28});
    vm.runInNewContext(code + "\nreadRecords();", {
      UrlFetchApp: {fetch: (url, options) => ({getContentText: () => fetched(url, options).toString("utf8")})},
      SpreadsheetApp: {getActiveSheet: () => sheet},
    });
    return rows;
  },
};

for (const line of readFileSync(0, "utf8").trim().split("\n")) {
  const [number, file] = line.split("\t");
  console.log(`${number}\t${await runs[process.argv[2]](readFileSync(file, "utf8"))}`);
}
