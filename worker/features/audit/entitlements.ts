import { canonicalJson } from '#core/encoding.ts';
import { readEntitlement, toSnapshot } from '#features/entitlements/entitlement.ts';
import type { Ctx } from '#platform/context.ts';
import { forEach } from '#platform/db/commit.ts';
import type { EntitlementSnapshot } from '#rules/balance.ts';
import type { listCopies, Suspect } from './store.ts';

type Copy = Awaited<ReturnType<typeof listCopies>>[number];
export type NamedEntitlement = Omit<Suspect, 'version'>;

interface Compared {
  suspect: Suspect;
  copyVersion: number;
  finding: string | null;
}

const LANES = 6;

/** Compares entitlement objects with their copies, which were read before. Returns only those with an available object. */
export async function compareEntitlements(ctx: Ctx, named: readonly NamedEntitlement[], copies: readonly Copy[]): Promise<Compared[]> {
  const compared: Compared[] = [];
  const compare = async (one: NamedEntitlement) => {
    const copy = copies.find(({ id }) => id === one.entitlementId) ?? null;
    const said = await readEntitlement(ctx, one, one.entitlementId);
    const suspect = { ...one, version: said?.version ?? 0 };
    compared.push({ suspect, copyVersion: copy?.version ?? 0, finding: copyProblem(copy && toSnapshot(copy), said) });
  };
  await forEach(ctx, named, compare, LANES);
  return compared;
}

export function copyProblem(copy: EntitlementSnapshot | null, said: EntitlementSnapshot | null): string | null {
  if (!said) return 'object_empty';
  if (!copy) return 'copy_missing';
  if (copy.version > said.version) return 'object_behind';
  if (copy.version < said.version) return 'copy_behind';
  return canonicalJson(copy) === canonicalJson(said) ? null : 'copy_differs';
}

/** Changes in flight at the first check have arrived by the second: the copy has at least the version reported then. */
export const hasCaughtUp = ({ finding, copyVersion }: Compared, { version }: Suspect): boolean =>
  finding === null || (finding === 'copy_behind' && copyVersion >= version);
