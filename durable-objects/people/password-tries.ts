import {
  FAILED_MAX,
  FAILED_MS,
  KNOWN_MS,
  NETWORKS_MAX,
  NOTICE_MS,
  type Notice,
  type PasswordTry,
  type TriedPassword,
} from '#rules/access/password-tries.ts';
import { Tables } from '../tables.ts';

const COLUMNS = {
  failures: 'id INTEGER PRIMARY KEY, at INTEGER NOT NULL',
  networks: 'id TEXT PRIMARY KEY, at INTEGER NOT NULL',
  notices: 'id TEXT PRIMARY KEY, at INTEGER NOT NULL',
};

/** Rows after the newest ones of a table. */
const beyond = (table: string, max: number): string => `SELECT id FROM ${table} ORDER BY at DESC, id DESC LIMIT -1 OFFSET ${max}`;

/**
 * Failed passwords and known networks of an email address, whether or not an account has it. The tables are created by the first password,
 * and deleted once nothing in them counts any more.
 */
export class PasswordTries {
  readonly #tables: Tables;

  constructor(sql: SqlStorage) {
    this.#tables = new Tables(sql, COLUMNS);
    this.#tables.load();
  }

  /** Counts a password as failed before it is checked, so that concurrent guesses count too. */
  try({ tryId, network }: TriedPassword, now: number): PasswordTry {
    const isKnown = this.#tables.rows('SELECT 1 FROM networks WHERE id = ? AND at > ?', network, now - KNOWN_MS).length > 0;
    this.#tables.write('INSERT OR IGNORE INTO failures VALUES (?, ?)', tryId, now);
    this.#tables.write(`DELETE FROM failures WHERE id IN (${beyond('failures', FAILED_MAX + 1)})`);
    return { isKnown, failures: this.#tables.rows('SELECT 1 FROM failures WHERE at > ?', now - FAILED_MS).length };
  }

  /** Takes back a try that was no wrong password. */
  withdraw(tryId: number): void {
    this.#tables.write('DELETE FROM failures WHERE id = ?', tryId);
  }

  learn(networks: string[], now: number): void {
    for (const network of networks)
      this.#tables.write('INSERT INTO networks VALUES (?, ?) ON CONFLICT(id) DO UPDATE SET at = max(at, excluded.at)', network, now);
    this.#tables.write(`DELETE FROM networks WHERE id IN (${beyond('networks', NETWORKS_MAX)})`);
  }

  known(now: number): string[] {
    return this.#tables.rows<{ id: string }>('SELECT id FROM networks WHERE at > ?', now - KNOWN_MS).map(({ id }) => id);
  }

  forgetNetworks(): void {
    if (this.#tables.rows('SELECT 1 FROM networks LIMIT 1').length > 0) this.#tables.write('DELETE FROM networks');
  }

  /** True for the first caller within the time of the notice. */
  claim(notice: Notice, now: number): boolean {
    if (this.#tables.rows('SELECT 1 FROM notices WHERE id = ? AND at > ?', notice, now - NOTICE_MS[notice]).length > 0) return false;
    this.#tables.write('INSERT INTO notices VALUES (?, ?) ON CONFLICT(id) DO UPDATE SET at = excluded.at', notice, now);
    return true;
  }

  /** Deletes expired rows. Returns the time at which the next one expires. */
  expire(now: number): number | null {
    const ends = [];
    for (const [table, lasts] of [
      ['failures', FAILED_MS],
      ['networks', KNOWN_MS],
      ['notices', NOTICE_MS.warning],
    ] as const) {
      const [next] = this.#tables.rows<{ at: number | null }>(`SELECT min(at) AS at FROM ${table} WHERE at > ?`, now - lasts);
      if (!next) continue;
      this.#tables.write(`DELETE FROM ${table} WHERE at <= ?`, now - lasts);
      if (next.at !== null) ends.push(next.at + lasts);
    }
    return ends.length === 0 ? null : Math.min(...ends);
  }
}
