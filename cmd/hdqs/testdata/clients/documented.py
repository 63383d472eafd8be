"""Runs lines of docs/engines.md in the folder FOLDER: documented.py FOLDER < PLAN

Each line of PLAN is a JSON object with an engine and its code: a command of curl, a line of R or Python, or SQL for DuckDB. For each,
a line of JSON is printed with the version of the engine, and the number that SQL returns or the number of rows that R or Python reads.
"""

import ast
import importlib
import importlib.metadata
import json
import os
import pathlib
import subprocess
import sys
import traceback

from leave import leave

MODULES = {"DuckDB": "duckdb", "chDB": "chdb", "Spark": "pyspark"}


def install_extensions(folder):
    """Puts extensions of DuckDB where INSTALL puts them, so that it needs no download."""
    import duckdb

    [platform] = duckdb.sql("PRAGMA platform").fetchone()
    into = pathlib.Path(folder, "v" + duckdb.__version__, platform)
    into.mkdir(parents=True)
    for name in ("httpfs", "iceberg", "avro"):
        package = importlib.import_module("duckdb_extension_" + name)
        [extension] = pathlib.Path(package.__file__).parent.rglob(name + ".duckdb_extension")
        into.joinpath(extension.name).symlink_to(extension)


def run_sql(code):
    import duckdb

    if not os.path.exists("extensions"):
        install_extensions("extensions")
    connection = duckdb.connect(config={"extension_directory": os.path.abspath("extensions")})
    return connection.execute(code).fetchone()[0]


def spark_session():
    from pyspark.sql import SparkSession

    builder = SparkSession.builder.master("local[1]").appName("documented")
    for key, value in {
        "spark.jars": os.environ["ICEBERG_JAR"], "spark.ui.enabled": "false", "spark.ui.showConsoleProgress": "false",
        "spark.driver.host": "127.0.0.1", "spark.driver.bindAddress": "127.0.0.1",
        "spark.sql.catalog.hdqs": "org.apache.iceberg.spark.SparkCatalog", "spark.sql.catalog.hdqs.type": "hadoop",
        "spark.sql.catalog.hdqs.warehouse": os.environ["STORE"] + "/bulk/iceberg",
    }.items():
        builder = builder.config(key, value)
    return builder.getOrCreate()


def run_python(engine, code):
    program = ast.parse(code)
    last = program.body.pop()
    names = {"spark": spark_session()} if engine == "Spark" else {}
    exec(compile(program, "line", "exec"), names)
    result = eval(compile(ast.Expression(last.value), "line", "eval"), names)
    if engine == "chDB":
        return int(str(result))
    if engine == "Spark":
        return result.count()
    return len(result)


def run(engine, code):
    if code.startswith("curl "):
        subprocess.run(code, shell=True, check=True)
        return None
    if engine == "R":
        return int(subprocess.run(["Rscript", "-e", f"cat(nrow({code}))"], check=True, capture_output=True).stdout)
    if engine == "DuckDB":
        return run_sql(code)
    return run_python(engine, code)


def main():
    os.chdir(sys.argv[1])
    for line in sys.stdin:
        step = json.loads(line)
        engine, answer = step["engine"], {}
        try:
            if engine not in ("", "R"):
                answer["version"] = importlib.metadata.version(MODULES.get(engine, engine.lower()))
            answer["rows"] = run(engine, step["code"])
        except Exception:  # of an engine, which may be of any kind
            answer["error"] = traceback.format_exc(limit=-2)[-1500:]
        print(json.dumps(answer), flush=True)
    leave()


main()
