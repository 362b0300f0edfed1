import { describe, expect, it } from 'vitest';
import { ERRORS } from '../../worker/core/errors.ts';

/** Where each error is provoked. The idempotency codes live with the verb that makes them. */
const IDEMPOTENCY = Object.keys(ERRORS).filter((code) => /^idempotency_/.test(code));
const PROVOKED_IN: Record<string, string[]> = {
  'account.test.ts': ['no_change'],
  'errors.test.ts': [
    'not_found',
    'method_not_allowed',
    'payload_too_large',
    'unsupported_media_type',
    'internal_error',
    'temporarily_unavailable',
  ],
  'every-route.test.ts': ['invalid_authorization'],
  'identity.test.ts': [
    'invalid_credentials',
    'account_suspended',
    'account_deleted',
    'email_registered',
    'password_too_short',
    'validation_error',
  ],
  'keys.test.ts': ['admin_requires_staff', 'invalid_permissions', 'plan_limit_reached'],
  'limits.test.ts': ['rate_limited'],
  'payments.test.ts': [
    'payment_transaction_conflict',
    'payment_failed',
    'setup_not_ready',
    'session_expired',
    'payment_mismatch',
    'fee_wallet_missing',
    'rpc_unavailable',
  ],
  '../stories/handoff.test.ts': ['handoff_secret_mismatch', 'handoff_expired', 'handoff_not_configured'],
  '../stories/identity-connector.test.ts': ['connector_secret_invalid', 'identity_expired', 'identity_verification_required'],
  'products.test.ts': ['invalid_product_type', 'state_conflict', 'invalid_wallet_address'],
};
// Provoked where the story is told that they belong to.
const IN_STORIES = [
  'invalid_rpc_payload',
  'webhook_signature_failed',
  'entitlement_missing',
  'subscription_expired',
  'duplicate_settlement',
  'payment_required',
  'spend_limit_exceeded',
  'price_unavailable',
  'misconfigured',
];
const files = import.meta.glob<string>(['./*.test.ts', '../stories/*.test.ts'], { query: '?raw', import: 'default', eager: true });

describe('the catalog of errors', () => {
  it('has a test for every code, in the file that says so', () => {
    expect([...Object.values(PROVOKED_IN).flat(), ...IDEMPOTENCY, ...IN_STORIES].sort()).toEqual(Object.keys(ERRORS).sort());
    for (const [file, codes] of Object.entries(PROVOKED_IN))
      for (const code of codes)
        expect(files[file.startsWith('.') ? file : `./${file}`], `${code} in ${file}`).toMatch(new RegExp(`'${code}'`));
  });
});
