import type { AccountId } from '#core/ids.ts';
import type { AdmissionRequest, AdmittedAccount, AdmittedKey } from '#rules/admission.ts';

/** What admission knows of an account, of its key, and of a request by that key: nothing is in the way but what is said otherwise. */
export const admittedAccount = (change: Partial<AdmittedAccount> = {}): AdmittedAccount => ({
  accountId: 'account-1' as AccountId,
  plan: 'free',
  planThrough: null,
  status: 'active',
  tokenVersion: 1,
  isStaff: false,
  version: 1,
  ...change,
});

export const admittedKey = (change: Partial<AdmittedKey> = {}): AdmittedKey => ({
  keyId: 'key-1',
  keyHash: 'hash-1',
  permissions: ['read', 'execute'],
  livemode: true,
  revokedAt: null,
  ...change,
});

export const admissionRequest = (change: Partial<AdmissionRequest> = {}): AdmissionRequest => ({
  credential: { kind: 'key', keyHash: 'hash-1' },
  permission: 'read',
  mode: null,
  bucket: 'requests',
  rateMultiplier: 1,
  now: 0,
  ...change,
});
