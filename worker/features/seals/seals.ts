import { sealAnew, sealVersions } from '#core/crypto.ts';
import { storyOf } from '#core/errors.ts';
import { PASSWORD_PURPOSE, passwordKeys } from '#features/accounts/auth/passwords.ts';
import { secretPurpose } from '#features/webhooks/endpoints/endpoint.ts';
import type { Config, Ctx, Shard } from '#platform/context.ts';
import { answerPurpose } from '#platform/db/idempotency-record.ts';
import { type Swept, sweepPages } from '#platform/db/sweeps.ts';
import { countSealed, listSealed, replaceSealed, SEALED_KINDS, type SealedKind, type SealedRow } from './store.ts';

interface Seal {
  /** Names of the keys, the first in front. */
  versions(): Promise<readonly string[]>;
  anew(row: SealedRow): Promise<string>;
}

const sealsOf = ({ SEAL_KEYS, PEPPER }: Config): Record<SealedKind, Seal> => ({
  webhook_secrets: {
    versions: () => sealVersions(SEAL_KEYS),
    anew: ({ owner, sealed }) => sealAnew(SEAL_KEYS, secretPurpose(owner), sealed),
  },
  kept_answers: {
    versions: () => sealVersions(SEAL_KEYS),
    anew: ({ owner, sealed }) => sealAnew(SEAL_KEYS, answerPurpose(owner), sealed),
  },
  password_hashes: {
    versions: () => sealVersions(passwordKeys(PEPPER)),
    anew: ({ sealed }) => sealAnew(passwordKeys(PEPPER), PASSWORD_PURPOSE, sealed),
  },
});

const PAGES = { pageMax: 100, pagesMax: 50 };

/**
 * Seals under the first key what an older one of its ring sealed, so that the older one can go: webhook secrets, kept answers and password
 * hashes. Where nothing is left it reads the ends of three indexes.
 */
export async function sweepSeals(ctx: Shard): Promise<Swept> {
  const all: Swept = { taken: 0, isFinished: true };
  for (const kind of SEALED_KINDS) {
    const { versions, anew } = sealsOf(ctx.config)[kind];
    for (const version of (await versions()).slice(1)) {
      const swept = await sweepPages<SealedRow>(
        ctx,
        PAGES,
        (last) => listSealed(ctx.db, kind, version, last?.rowid ?? 0, PAGES.pageMax),
        async (rows) => {
          const tried = await Promise.all(rows.map(async (row) => ({ ...row, anew: await anew(row).catch(noted(ctx, kind)) })));
          await replaceSealed(
            ctx.db,
            kind,
            tried.flatMap(({ rowid, sealed, anew: fresh }) => (fresh ? [{ rowid, sealed, anew: fresh }] : [])),
          );
        },
      );
      all.taken += swept.taken;
      all.isFinished &&= swept.isFinished;
    }
  }
  return all;
}

/** A damaged seal cannot be opened; the sweep notes it and goes on with the next. */
const noted = (ctx: Ctx, kind: SealedKind) => (error: unknown) => {
  ctx.note(`seal of ${kind}: ${storyOf(error)}`);
  return null;
};

/** For each kind, how many an older key of its ring sealed, and how many a key that is gone from the configuration. */
export async function countOldSeals(ctx: Shard): Promise<{ kind: SealedKind; old: number; gone: number }[]> {
  const seals = sealsOf(ctx.config);
  return Promise.all(SEALED_KINDS.map(async (kind) => ({ kind, ...(await countSealed(ctx.db, kind, await seals[kind].versions())) })));
}
