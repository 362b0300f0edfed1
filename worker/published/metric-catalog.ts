/** Every metric that `GET /v1/operator/metrics` returns. */
export const METRICS = {
  svc_sweep_lag_seconds: { type: 'gauge', help: 'Seconds for which a sweep has been due and unfinished.' },
  svc_sweep_succeeded_seconds: {
    type: 'gauge',
    help: 'Time at which a sweep last succeeded, in Unix seconds; 0: never. A sweep without work does not run.',
  },
  svc_sweep_failures: { type: 'gauge', help: 'Number of consecutive failed runs of a sweep.' },
  svc_sweep_behind_seconds: {
    type: 'gauge',
    help: 'Age of the oldest due row of a sweep that left rows three times in a row that it was asked for. Only of sweeps that are behind.',
  },
  svc_oldest_event_seconds: {
    type: 'gauge',
    help: 'Age of the oldest event in the database. Older ones are in the archive, if one is bound.',
  },
  svc_database_bytes: { type: 'gauge', help: 'Size of the database in bytes.' },
  svc_database_used_ratio: { type: 'gauge', help: 'Used share of the maximum database size.' },
  svc_sealed_old: { type: 'gauge', help: 'Values encrypted by an older key of their ring; counted up to 10001.' },
  svc_sealed_gone: { type: 'gauge', help: 'Values encrypted by a key that was removed from its ring.' },
  svc_keys_missing: { type: 'gauge', help: 'Keys that open rows name but the variable lacks. The rows wait.' },
  svc_key_lamports: { type: 'gauge', help: 'Last known balance of each address that pays network fees, in lamports.' },
  svc_fee_lamports: { type: 'gauge', help: 'Lamports that the fee payer spent within the last hour.' },
  svc_oldest_seconds: { type: 'gauge', help: 'Age of the oldest pending work; 0: none.' },
  svc_parked_messages: {
    type: 'gauge',
    help: 'Messages parked for the operator (failed) or for another release (unknown_kind); counted up to 10001.',
  },
  svc_chain_to_webhook_seconds: {
    type: 'gauge',
    help: 'Seconds from the block of a payment to the response of the webhook endpoint, of the newest deliveries.',
  },
  svc_audit_rows: {
    type: 'gauge',
    help: 'Rows that the last daily audit compared, that differed, and that no node or object could verify.',
  },
  svc_notes_total: { type: 'counter', help: 'Notes in the log lines of the responding isolate since its start, by subject.' },
} as const satisfies Record<string, { type: 'gauge' | 'counter'; help: string }>;
