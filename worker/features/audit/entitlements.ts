import { canonicalJson } from '#core/encoding.ts';
import { readEntitlement, toSnapshot } from '#features/entitlements/entitlement.ts';
import type { Ctx } from '#platform/context.ts';
import { forEach } from '#platform/db/commit.ts';
import type { EntitlementSnapshot } from '#rules/balance.ts';
import type { listCopies, Suspect } from './store.ts';

type Copy = Awaited<ReturnType<typeof listCopies>>[number];
/** An entitlement and whose it is. */
export type NamedEntitlement = Omit<Suspect, 'version'>;

/** What was compared: `finding` is null where object and copy agree. */
interface Compared {
  suspect: Suspect;
  copyVersion: number;
  finding: string | null;
}

/** Objects asked at once. */
const LANES = 6;

/**
 * Compares entitlements' objects with their copies in the database, which were read before. Answers those that could be asked; the
 * others are not known.
 */
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

/** How an entitlement's copy differs from what its object said a moment later. Pure. */
export function copyProblem(copy: EntitlementSnapshot | null, said: EntitlementSnapshot | null): string | null {
  if (!said) return 'object_empty';
  if (!copy) return 'copy_missing';
  if (copy.version > said.version) return 'object_behind';
  if (copy.version < said.version) return 'copy_behind';
  return canonicalJson(copy) === canonicalJson(said) ? null : 'copy_differs';
}

/** What was under way at the first look has come by the second: the copy is at least of the version that was told then. */
export const hasCaughtUp = ({ finding, copyVersion }: Compared, { version }: Suspect): boolean =>
  finding === null || (finding === 'copy_behind' && copyVersion >= version);
