import { reseal, sealVersions } from '#core/crypto.ts';
import { formatErrorChain } from '#core/errors.ts';
import { PASSWORD_PURPOSE, passwordKeys } from '#features/accounts/auth/passwords.ts';
import { totpPurpose } from '#features/accounts/factors/totp.ts';
import { secretPurpose } from '#features/webhooks/endpoints/endpoint.ts';
import type { Config, Ctx, Shard } from '#platform/context.ts';
import { answerPurpose } from '#platform/db/idempotency-record.ts';
import { addSwept, type Swept, sweepPages } from '#platform/db/sweeps.ts';
import { countSealed, listSealed, replaceSealed, SEALED_KINDS, type SealedKind, type SealedRow } from './store.ts';

interface Seal {
  /** Names of the keys, the first in front. */
  versions(): Promise<readonly string[]>;
  reseal(row: SealedRow): Promise<string>;
}

const sealsOf = ({ SEAL_KEYS, FACTOR_KEYS, PEPPER }: Config): Record<SealedKind, Seal> => ({
  webhook_secrets: {
    versions: () => sealVersions(SEAL_KEYS),
    reseal: ({ owner, sealed }) => reseal(SEAL_KEYS, secretPurpose(owner), sealed),
  },
  kept_answers: {
    versions: () => sealVersions(SEAL_KEYS),
    reseal: ({ owner, sealed }) => reseal(SEAL_KEYS, answerPurpose(owner), sealed),
  },
  totp_secrets: {
    versions: () => sealVersions(FACTOR_KEYS),
    reseal: ({ owner, sealed }) => reseal(FACTOR_KEYS, totpPurpose(owner), sealed),
  },
  password_hashes: {
    versions: () => sealVersions(passwordKeys(PEPPER)),
    reseal: ({ sealed }) => reseal(passwordKeys(PEPPER), PASSWORD_PURPOSE, sealed),
  },
});

const PAGES = { pageMax: 100, pagesMax: 50 };

/**
 * Reseals with the current key what an older key of the ring sealed, so that the older key can be removed: webhook secrets, stored answers,
 * secrets of authenticator apps, password hashes. With nothing left to do, one run reads the ends of four indexes.
 */
export async function sweepSeals(ctx: Shard): Promise<Swept> {
  const all: Swept[] = [];
  for (const kind of SEALED_KINDS) {
    const { versions, reseal } = sealsOf(ctx.config)[kind];
    for (const version of (await versions()).slice(1)) {
      const part = await sweepPages<SealedRow>(
        ctx,
        PAGES,
        (last) => listSealed(ctx.db, kind, version, last, PAGES.pageMax),
        async (rows) => {
          const tried = await Promise.all(rows.map(async (row) => ({ ...row, resealed: await reseal(row).catch(noted(ctx, kind)) })));
          await replaceSealed(
            ctx.db,
            kind,
            tried.flatMap(({ position, sealed, resealed }) => (resealed ? [{ position, sealed, resealed }] : [])),
          );
        },
      );
      all.push(part);
    }
  }
  return addSwept(...all);
}

const noted = (ctx: Ctx, kind: SealedKind) => (error: unknown) => {
  ctx.note(`seal of ${kind}: ${formatErrorChain(error)}`);
  return null;
};

/** Counts, per kind, the values sealed by older keys of the ring and by keys missing from the configuration. */
export async function countOldSeals(ctx: Shard): Promise<{ kind: SealedKind; old: number; gone: number }[]> {
  const seals = sealsOf(ctx.config);
  return Promise.all(SEALED_KINDS.map(async (kind) => ({ kind, ...(await countSealed(ctx.db, kind, await seals[kind].versions())) })));
}
