/** Tables of an SQL database that are made at the first call. */

export type SqlValue = string | number | null;

export type SqlRows = readonly { readonly [column: string]: any }[];

/** The functions of a database that `sqlStore` calls, and `sqlTraceStore` of `looplet/trace`. */
export interface SqlDatabase {
  /** Runs a statement and returns the number of rows that it has changed. */
  run(statement: string, values: readonly SqlValue[]): Promise<number> | number;
  /** The rows of a query. Numbers may be texts. */
  all(query: string, values: readonly SqlValue[]): Promise<SqlRows> | SqlRows;
  /** The place of a value, by its number from 1: `$1` for Postgres. Default `?`. */
  placeholder?(index: number): string;
}

/** Statements on tables, with `?` for each value. */
export interface SqlTables {
  run(statement: string, ...values: SqlValue[]): Promise<number>;
  all(query: string, ...values: SqlValue[]): Promise<SqlRows>;
}

/** A column that tables of older versions do not have. */
export interface SqlColumn {
  readonly table: string;
  readonly name: string;
  readonly type: string;
}

/** Creates the tables of these statements if they do not exist, and adds missing columns to older ones. */
export function sqlTables(
  database: SqlDatabase,
  statements: readonly string[],
  columns: readonly SqlColumn[] = [],
): SqlTables {
  const { placeholder = () => "?" } = database;
  const worded = (statement: string): string => {
    let index = 0;
    return statement.replace(/\?/g, () => placeholder.call(database, (index += 1)));
  };
  const create = async (): Promise<void> => {
    for (const statement of statements) await database.run(statement, []);
    for (const { table, name, type } of columns) {
      const look = async (): Promise<unknown> => database.all(`SELECT ${name} FROM ${table} WHERE 1 = 0`, []);
      const add = async (): Promise<unknown> =>
        database.run(`ALTER TABLE ${table} ADD COLUMN ${name} ${type}`, []);
      // Another process may add it at the same moment.
      await look().catch(() => add().catch(look));
    }
  };
  let created: Promise<void> | undefined;
  const ready = (): Promise<void> =>
    (created ??= create().catch((error: unknown) => {
      created = undefined;
      throw error;
    }));
  return {
    async run(statement, ...values) {
      await ready();
      return Number(await database.run(worded(statement), values));
    },
    async all(query, ...values) {
      await ready();
      return database.all(worded(query), values);
    },
  };
}
