import { iso } from '#core/time.ts';
import { planEmail } from '#features/email/outbox.ts';
import type { Shard } from '#platform/context.ts';
import { recordAction, recordPerson } from '#platform/db/audit/record-action.ts';
import { commit } from '#platform/db/commit.ts';
import type { Account } from '#platform/db/tables/accounts.ts';
import type { Passkey } from '#platform/db/tables/office/factors.ts';
import { ownerAddresses, planSecurityAlert } from '../auth/owner-emails.ts';
import type { ProvenFactor } from '../auth/sessions.ts';
import { changeAccount } from '../change-account.ts';
import { type Ceremony, takeCeremony } from '../passkeys/ceremony.ts';
import { type AuthenticationResponse, verifyAssertion } from '../passkeys/verify.ts';
import { recoveryHashes } from './factors.ts';
import { findPasskeyByCredential, findRecoveryCode, findTotp, usePasskey, useRecoveryCode, useTotpStep } from './store.ts';
import { findStep } from './totp.ts';

/** FactorProof of a factor: the only field that is present. */
export interface FactorProof {
  totp?: string | undefined;
  recoveryCode?: string | undefined;
  passkey?: { ceremonyId: string; response: AuthenticationResponse } | undefined;
}

/** FactorProof that was right when it was checked. `spend` uses it up, and returns false if another request was faster. */
export interface CheckedProof extends ProvenFactor {
  spend(): Promise<boolean>;
}

/**
 * Checks a proof of a person, without effect but for the ceremony of a passkey. Null for a wrong, used or unknown one. `kind`: kind of the
 * ceremony.
 */
export async function checkProof(home: Shard, account: Account, proof: FactorProof, kind: Ceremony['kind']): Promise<CheckedProof | null> {
  if (proof.totp !== undefined) return checkTotp(home, account, proof.totp);
  if (proof.recoveryCode !== undefined) return checkRecoveryCode(home, account, proof.recoveryCode);
  const { ceremonyId, response } = proof.passkey!;
  const passkey = await findPasskeyByCredential(home.db, response.id);
  if (passkey?.personId !== account.id) return null;
  return checkPasskey(home, account, { passkey, ceremonyId, response, kind });
}

async function checkTotp(home: Shard, { id, factors }: Account, code: string): Promise<CheckedProof | null> {
  const known = factors?.totp ? await findTotp(home.db, id) : undefined;
  const step = known?.confirmedAt == null ? null : await findStep(home, known, code);
  return step === null ? null : { factor: 'totp', passkeyId: null, spend: () => useTotpStep(home.db, id, step) };
}

async function checkRecoveryCode(home: Shard, account: Account, code: string): Promise<CheckedProof | null> {
  const hashes = recoveryHashes(home, account.id, code);
  if ((await findRecoveryCode(home.db, account.id, hashes)) === undefined) return null;
  const spend = async (): Promise<boolean> => {
    let isSpent = false;
    await changeAccount(home, account.id, async (now) => {
      const hash = await findRecoveryCode(home.db, now.id, hashes);
      isSpent = hash !== undefined && now.factors !== null;
      if (hash === undefined || now.factors === null) return null;
      const recoveryCodes = now.factors.recoveryCodes - 1;
      return {
        values: { factors: { ...now.factors, recoveryCodes } },
        writes: [
          ...useRecoveryCode(home, now.id, hash),
          ...planSecurityAlert(home, now, { change: 'recovery_code_used', named: String(recoveryCodes) }),
          recordPerson(home, now.id, 'person.recovery_code_used', { after: { recovery_codes_left: recoveryCodes } }),
        ],
        // A rival with the same code plans an equal row. After a lost answer the code is used, and its person takes another one.
        wasStored: () => false,
      };
    });
    return isSpent;
  };
  return { factor: 'recovery_code', passkeyId: null, spend };
}

/** Verifies a passkey of a person, and uses up its ceremony. */
export async function checkPasskey(
  home: Shard,
  account: Account,
  {
    passkey,
    ceremonyId,
    response,
    kind,
  }: { passkey: Passkey; ceremonyId: string; response: AuthenticationResponse; kind: Ceremony['kind'] },
): Promise<CheckedProof | null> {
  const ceremony = await takeCeremony(home, ceremonyId, { kind, personId: kind === 'sign_in' ? null : account.id });
  const asserted = ceremony && (await verifyAssertion(home, ceremony, passkey, response));
  if (!asserted) return null;
  const spend = async (): Promise<boolean> => {
    const isUsed = await usePasskey(home.db, passkey, { ...asserted, at: home.wallNow });
    if (!isUsed && asserted.counter <= passkey.counter) await reportSuspect(home, account, passkey);
    return isUsed;
  };
  return { factor: 'passkey', passkeyId: passkey.id, spend };
}

/** Records and emails that the counter of a passkey went back, as that of a copy does. */
async function reportSuspect(ctx: Shard, account: Account, { id, name }: Passkey): Promise<void> {
  const facts = { named: name, at: iso(ctx.wallNow) };
  const emails = ownerAddresses(ctx, account).flatMap(
    (address) => planEmail(ctx, { template: 'passkey_suspect', facts, accountId: account.id, address }).writes,
  );
  const entry = {
    action: 'person.passkey_suspected',
    subject: { type: 'person', id: account.id },
    outcome: 'refused',
    after: { passkey_id: id, name },
    ...(ctx.acting.actor ? {} : { by: { kind: 'person', id: null } as const }),
  } as const;
  const writes = [...emails, recordAction(ctx, { merchantId: account.id, livemode: true }, entry)];
  await commit(ctx, { events: [], writes, result: null });
}

export const isCode = ({ passkey }: FactorProof): boolean => passkey === undefined;
