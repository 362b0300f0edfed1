import { spawn } from 'node:child_process';
import { chownSync, existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pg from 'pg';
import type { Teardown } from '../../cli/teardown.ts';
import { endProcess, outputOf, until } from '../load/processes.ts';

const DEBIAN_HOME = '/usr/lib/postgresql';
export const INSTALL_HINT = 'apt-get install -y postgresql';
const SCHEMA = join(import.meta.dirname, 'peer.sql');
/** Default durability. More memory and fewer checkpoints than the defaults, in favour of PostgreSQL. */
const SETTINGS = {
  listen_addresses: '',
  fsync: 'on',
  synchronous_commit: 'on',
  full_page_writes: 'on',
  shared_buffers: '256MB',
  max_wal_size: '4GB',
  checkpoint_timeout: '30min',
};

export interface Postgres {
  version: string;
  settings: Record<string, string>;
  host: string;
  pid: number;
}

function findBinaries(): string | null {
  const versions = existsSync(DEBIAN_HOME) ? readdirSync(DEBIAN_HOME).sort((a, b) => Number(b) - Number(a)) : [];
  const directories = [...versions.map((version) => join(DEBIAN_HOME, version, 'bin')), ...(process.env.PATH ?? '').split(':')];
  return directories.find((directory) => existsSync(join(directory, 'initdb')) && existsSync(join(directory, 'postgres'))) ?? null;
}

/** PostgreSQL refuses to run as root. As root, the server runs as the package's user. */
function runAs(): { prefix: string[]; owner: { uid: number; gid: number } | null } {
  if (process.getuid?.() !== 0) return { prefix: [], owner: null };
  const [uid, gid] = ['-u', '-g'].map((flag) => Number(outputOf('id', [flag, 'postgres']))) as [number, number];
  return { prefix: ['setpriv', `--reuid=${uid}`, `--regid=${gid}`, '--clear-groups'], owner: { uid, gid } };
}

/** Starts a server in a new temporary directory on a Unix socket. Returns null if PostgreSQL is not installed. */
export async function startPostgres(teardown: Teardown): Promise<Postgres | null> {
  const binaries = findBinaries();
  if (binaries === null) return null;
  const home = mkdtempSync(join(tmpdir(), 'svc-pg-'));
  teardown.defer(() => rmSync(home, { recursive: true, force: true }));
  const { prefix, owner } = runAs();
  if (owner) chownSync(home, owner.uid, owner.gid);
  const run = [...prefix, join(binaries, 'initdb'), '-D', join(home, 'data'), '-U', 'postgres', '-A', 'trust', '-E', 'UTF8', '--no-locale'];
  outputOf(run[0]!, run.slice(1));
  const settings = Object.entries({ ...SETTINGS, unix_socket_directories: home }).flatMap(([name, value]) => ['-c', `${name}=${value}`]);
  const serve = [...prefix, join(binaries, 'postgres'), '-D', join(home, 'data'), ...settings];
  const child = spawn(serve[0]!, serve.slice(1), { cwd: home, stdio: 'ignore' });
  // SIGINT: fast shutdown, which ends open sessions.
  teardown.defer(() => endProcess(child, 'SIGINT'));
  await until('PostgreSQL', child, () => withClient(home, async () => true));
  const read = await withClient(home, async (client) => {
    await client.query(readFileSync(SCHEMA, 'utf8'));
    return client.query<{ name: string; setting: string }>('SELECT name, setting FROM pg_settings');
  });
  const settingOf = (name: string): string => read.rows.find((row) => row.name === name)!.setting;
  const shown = [...Object.keys(SETTINGS).slice(1), 'wal_sync_method'];
  const used = Object.fromEntries(shown.map((name) => [name, settingOf(name)]));
  return { version: settingOf('server_version'), settings: used, host: home, pid: child.pid! };
}

async function withClient<T>(host: string, use: (client: pg.Client) => Promise<T>): Promise<T> {
  const client = new pg.Client({ host, user: 'postgres', database: 'postgres' });
  await client.connect();
  try {
    return await use(client);
  } finally {
    await client.end();
  }
}
