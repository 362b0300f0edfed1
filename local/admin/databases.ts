import { readFileSync, writeFileSync } from 'node:fs';
import { parse } from 'node:path';
import { unstable_readConfig as readWrangler } from 'wrangler';
import { defaultPartitions, PARTITIONS, parsePartitions } from '../../worker/core/ids.ts';
import { REGIONS, type Region } from '../../worker/platform/variables/regions.ts';

/** Runs wrangler and returns what it printed. Throws if it fails. */
export type RunWrangler = (args: string[]) => Promise<string>;

interface Bound {
  binding: string;
  name: string;
}

interface Deployment {
  bound: Bound[];
  vars: Record<string, string>;
}

const PARTITIONS_EACH = 8;
const hex = (partition: number): string => partition.toString(16).padStart(3, '0');
const numberOf = (binding: string): number => (binding === 'DIRECTORY' ? 0 : binding === 'DB' ? 1 : Number(binding.slice(3)));

function readDeployment(configPath: string): Deployment {
  const { d1_databases, vars } = readWrangler({ config: configPath }, { hideWarnings: true }) as {
    d1_databases: { binding: string; database_name?: string }[];
    vars: Record<string, unknown>;
  };
  const bound = d1_databases.flatMap(({ binding, database_name: name = '' }) =>
    /^(?:DB(?:_\d+)?|DIRECTORY)$/.test(binding) ? [{ binding, name }] : [],
  );
  return { bound: bound.toSorted((a, b) => numberOf(a.binding) - numberOf(b.binding)), vars: vars as Record<string, string> };
}

/**
 * Applies the migrations to the directory, then to each database. Stops at the first failure, prints the state of each, and may be repeated.
 * Returns false after a failure.
 */
export async function migrateDatabases(configPath: string, wrangler: RunWrangler, print: (line: string) => void): Promise<boolean> {
  const { bound } = readDeployment(configPath);
  for (const [i, { binding }] of bound.entries()) {
    try {
      await wrangler(['d1', 'migrations', 'apply', binding, '--remote', '--config', configPath]);
      print(`${binding}  migrated`);
    } catch (error) {
      print(`${binding}  failed: ${error instanceof Error ? error.message : String(error)}`);
      for (const { binding: next } of bound.slice(i + 1)) print(`${next}  not begun`);
      print('Repair it, and repeat: npm run admin -- databases migrate');
      return false;
    }
  }
  return true;
}

interface Addition {
  region: string | undefined;
  configPath: string;
  wrangler: RunWrangler;
  /** Problems that a deployment would have. */
  check: () => Promise<string[]>;
  print(line: string): void;
}

/**
 * Creates a database in a region, binds it in wrangler.toml with new partitions, and migrates it. No account is created in it until
 * `OPEN_DATABASES` names it, so isolates of the previous version never meet an id of an unknown partition. Returns false if something is left.
 */
export async function addDatabase({ region, configPath, wrangler, check, print }: Addition): Promise<boolean> {
  if (!REGIONS.some((one) => one === region)) throw new Error(`--region wants one of ${REGIONS.join(', ')}.`);
  const deployment = readDeployment(configPath);
  const next = planDatabase(deployment, region as Region);
  const made = await wrangler(['d1', 'create', next.name, '--location', region!]);
  const [id] = /[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}/.exec(made) ?? [];
  if (id === undefined) throw new Error(`wrangler names no database_id of ${next.name}:\n${made}`);
  writeFileSync(configPath, bindIn(readFileSync(configPath, 'utf8'), { ...next, id }));
  print(
    `${next.binding} (${next.name}) is created in ${region} and bound in ${parse(configPath).base} with the partitions ${next.partitions}.`,
  );
  if (!(await migrateDatabases(configPath, wrangler, print))) return false;
  const problems = await check();
  for (const problem of problems) print(problem);
  if (problems.length > 0) return false;
  print(`Next: npx wrangler deploy. Then set OPEN_DATABASES = "${[...next.open, next.binding].join(' ')}" and deploy again.`);
  return true;
}

interface NextDatabase {
  binding: string;
  name: string;
  partitions: string;
  variables: Record<string, string>;
  open: string[];
}

function planDatabase({ bound, vars }: Deployment, region: Region): NextDatabase {
  const databases = bound.filter(({ binding }) => binding !== 'DIRECTORY');
  const [first] = databases;
  if (!first) throw new Error('wrangler.toml binds no DB.');
  if (databases.length === bound.length)
    throw new Error('wrangler.toml binds no DIRECTORY. Bind it first: docs/operations/several-databases.md.');
  const names = databases.map(({ binding }) => binding);
  const located = (vars.DATABASES ?? '').trim().split(/\s+/).filter(Boolean);
  const homeless = names.filter((name) => !located.some((one) => one.startsWith(`${name}:`)));
  if (homeless.length > 0) throw new Error(`DATABASES has no region of ${homeless.join(', ')}. Add it to [vars], such as "DB:enam".`);
  const ranges = vars.PARTITIONS ? parsePartitions(vars.PARTITIONS) : defaultPartitions(names);
  if (ranges === null) throw new Error('PARTITIONS has another form than "000-007:DB 008-00f:DB_2".');
  const from = Math.max(...ranges.map(([, last]) => last)) + 1;
  if (from + PARTITIONS_EACH > PARTITIONS) throw new Error('No partitions are left.');
  const binding = `DB_${numberOf(names.at(-1)!) + 1}`;
  const partitions = `${hex(from)}-${hex(from + PARTITIONS_EACH - 1)}`;
  const before = ranges.map(([start, end, name]) => `${start === end ? hex(start) : `${hex(start)}-${hex(end)}`}:${name}`);
  const open = vars.OPEN_DATABASES ? vars.OPEN_DATABASES.trim().split(/\s+/) : names;
  return {
    binding,
    name: `${first.name}-${numberOf(binding)}`,
    partitions,
    open,
    variables: {
      PARTITIONS: [...before, `${partitions}:${binding}`].join(' '),
      DATABASES: [...located, `${binding}:${region}`].join(' '),
      OPEN_DATABASES: open.join(' '),
    },
  };
}

/** Adds the binding behind the other databases, and sets the variables. */
function bindIn(toml: string, { binding, name, id, variables }: NextDatabase & { id: string }): string {
  const block = `[[d1_databases]]\nbinding = "${binding}"\ndatabase_name = "${name}"\ndatabase_id = "${id}"\nmigrations_dir = "migrations"\n`;
  const at = toml.lastIndexOf('[[d1_databases]]');
  const end = toml.slice(at).search(/\n\s*\n/);
  const withBinding = end < 0 ? `${toml.trimEnd()}\n\n${block}` : `${toml.slice(0, at + end + 1)}\n${block}${toml.slice(at + end + 1)}`;
  return Object.entries(variables).reduce((text, [variable, value]) => {
    const line = `${variable} = "${value}"`;
    const before = new RegExp(`^${variable}\\s*=.*$`, 'm');
    return before.test(text) ? text.replace(before, line) : text.replace(/^\[vars\]$/m, `[vars]\n${line}`);
  }, withBinding);
}
