import { z } from 'zod';
import { parsePartitions, type Range } from '#core/ids.ts';
import { databaseNamesOf } from '#core/isolate/budget.ts';
import { REGIONS, type Region } from '#platform/variables/regions.ts';
import { type Variable, variableOf } from '../variable.ts';

export const DATABASE_VARIABLES = {
  PARTITIONS: variableOf(
    z
      .string()
      .transform((text, { addIssue }) => {
        const ranges = parsePartitions(text);
        if (ranges === null) addIssue('form');
        return ranges ?? z.NEVER;
      })
      .optional(),
    '`first-last:binding`, space-separated',
    'database of each partition of the ids, such as `000-007:DB 008-00f:DB_2`. Without it each bound database has eight, in the order of their numbers. A partition that has accounts changes its database only by a move',
  ),
  OPEN_DATABASES: variableOf(
    z
      .string()
      .regex(/^\s*DB(?:_\d+)?(?:\s+DB(?:_\d+)?)*\s*$/)
      .transform((text) => text.trim().split(/\s+/))
      .optional(),
    'bindings, space-separated',
    'databases that take new accounts, such as `DB_2 DB_3`, each as many as it has partitions. Without it all bound ones',
  ),
  DATABASES: variableOf(
    z
      .string()
      .transform((text, { addIssue }) => {
        const regions = parseRegions(text);
        if (regions === null) addIssue('form');
        return regions ?? z.NEVER;
      })
      .optional(),
    '`binding:region`, space-separated',
    'region of each database, such as `DB:enam DB_2:apac`: `wnam`, `enam`, `weur`, `eeur`, `apac` or `oc`. A new account is created in the region of its caller, and the objects of an account near its database. Without it neither has a region',
  ),
  MOVES: variableOf(
    z.literal('on').optional(),
    '`on`',
    'isolates ask `DIRECTORY` every ten seconds for moved partitions, which `npm run admin -- partitions` needs. On from minutes before a move until `PARTITIONS` names the new database',
  ),
} satisfies Record<string, Variable>;

type DatabaseRegion = readonly [database: string, region: Region];

/** Parses `DB:enam DB_2:apac`. Null if the text has another form. */
function parseRegions(text: string): DatabaseRegion[] | null {
  const parts = text.trim().split(/\s+/);
  const regions = parts.flatMap((part): DatabaseRegion[] => {
    const [, database, name] = /^(DB(?:_\d+)?):([a-z]+)$/.exec(part) ?? [];
    const region = REGIONS.find((one) => one === name);
    return database === undefined || region === undefined ? [] : [[database, region]];
  });
  return regions.length === parts.length ? regions : null;
}

interface Named {
  PARTITIONS?: readonly Range[] | undefined;
  OPEN_DATABASES?: string[] | undefined;
  DATABASES?: readonly DatabaseRegion[] | undefined;
}

interface Problem {
  name: keyof typeof DATABASE_VARIABLES | 'DIRECTORY';
  problem: string;
}

/** Contradictions between the bound databases and the variables that name databases. */
export function listDatabaseProblems(
  environment: Readonly<Record<string, unknown>>,
  { PARTITIONS: ranges, OPEN_DATABASES: open = [], DATABASES: regions }: Named,
): Problem[] {
  const bound = databaseNamesOf(environment);
  const named = new Set(ranges?.map(([, , database]) => database));
  const unbound = [...named].filter((name) => !bound.includes(name));
  const bare = ranges === undefined ? [] : bound.filter((name) => !named.has(name));
  const shared = (ranges ?? []).flatMap(([first, , database], i, all) => {
    const before = all[i - 1];
    return before && first <= before[1] ? [`gives ${hex(first)} to ${before[2]} and to ${database}. A partition has one database`] : [];
  });
  const closed = open.filter((name) => !bound.includes(name));
  const located = regions?.map(([name]) => name);
  const gap = ranges === undefined ? bound.find((name, i) => i > 0 && name !== `DB_${i + 1}`) : undefined;
  return [
    ...(bound.length > 1 && environment.DIRECTORY === undefined
      ? [{ name: 'DIRECTORY', problem: `is not bound, but ${bound.at(-1)} is. Bind a database with all migrations as DIRECTORY` } as const]
      : []),
    ...(gap === undefined
      ? []
      : [{ name: 'PARTITIONS', problem: `is missing, but ${gap} is bound and a number before it is not. Set it` } as const]),
    ...unbound.map((name) => ({ name: 'PARTITIONS', problem: `names ${name}, which is not bound. Bind it` }) as const),
    ...bare.map(
      (name) => ({ name: 'PARTITIONS', problem: `has no partition of ${name}. Add a range that no other database has` }) as const,
    ),
    ...shared.map((problem) => ({ name: 'PARTITIONS', problem }) as const),
    ...closed.map(
      (name) => ({ name: 'OPEN_DATABASES', problem: `names ${name}, which is not bound. Bind it or remove the name` }) as const,
    ),
    ...(located ?? [])
      .filter((name) => !bound.includes(name))
      .map((name) => ({ name: 'DATABASES', problem: `names ${name}, which is not bound. Bind it or remove the name` }) as const),
    ...(located ?? [])
      .filter((name, i, all) => all.indexOf(name) !== i)
      .map((name) => ({ name: 'DATABASES', problem: `gives ${name} two regions. A database has one` }) as const),
    ...(located === undefined ? [] : bound.filter((name) => !located.includes(name))).map(
      (name) => ({ name: 'DATABASES', problem: `has no region of ${name}. Add it` }) as const,
    ),
  ];
}

const hex = (partition: number): string => partition.toString(16).padStart(3, '0');
