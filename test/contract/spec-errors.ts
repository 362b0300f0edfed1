/** Every error code and its status. A code with two statuses has its usual one here. */
const ERROR_CODES: Record<number, string> = {
  400: 'idempotency_key_required idempotency_key_too_long idempotency_key_invalid invalid_product_type invalid_state invalid_rpc_payload',
  401: 'invalid_authorization invalid_credentials factor_required webhook_signature_failed connector_secret_invalid',
  402: 'payment_required',
  403: 'account_suspended account_deleted admin_requires_staff entitlement_missing subscription_expired handoff_secret_mismatch spend_limit_exceeded',
  404: 'not_found',
  405: 'method_not_allowed',
  409: 'email_registered payment_transaction_conflict payment_failed ticket_closed idempotency_in_progress idempotency_conflict idempotency_race setup_not_ready subscription_cancelled subscription_requires_reapproval duplicate_settlement state_conflict',
  410: 'session_expired handoff_expired identity_expired channel_closed link_expired',
  413: 'payload_too_large',
  415: 'unsupported_media_type',
  422: 'validation_error unknown_field password_too_short password_too_common no_change invalid_permissions identity_verification_required invalid_wallet_address payment_mismatch',
  429: 'rate_limited plan_limit_reached payer_limit_reached',
  500: 'internal_error',
  503: 'misconfigured billing_not_configured mail_not_configured oauth_not_configured fee_wallet_missing price_unavailable handoff_not_configured rpc_unavailable temporarily_unavailable',
};
export const statusOfCode = new Map(
  Object.entries(ERROR_CODES).flatMap(([status, codes]) => codes.split(' ').map((code) => [code, Number(status)])),
);

/** Codes of unbuilt features. The set only shrinks and ends empty. */
export const codesNotBuiltYet = new Set<string>();

/** Codes for which the identical request may succeed later. */
export const RETRYABLE = new Set(
  'rate_limited idempotency_in_progress idempotency_race internal_error price_unavailable rpc_unavailable temporarily_unavailable'.split(
    ' ',
  ),
);
