import { keyRing, type SigningKey } from '#core/crypto.ts';
import { base58 } from '#core/encoding.ts';

export const KEY_VARIABLES = ['FEE_PAYER_KEYS', 'CHANNEL_KEYS', 'SUBSCRIPTION_KEYS'] as const;
export type KeyVariable = (typeof KEY_VARIABLES)[number];

export interface NamedKey {
  variable: KeyVariable;
  address: string;
}

/** Pending payments that are read. They were signed already and end within minutes, so a key that only others name is missed by little. */
const UNDER_WAY_MAX = 8;

/** Lists each address once, with one index read per address however many rows name it. */
const walk = (name: string, table: string, column: string, isOpen: string): string => `${name}(address) AS (
  SELECT min(${column}) FROM ${table} WHERE ${isOpen} AND livemode = 1
  UNION ALL SELECT (SELECT min(${column}) FROM ${table} WHERE ${isOpen} AND livemode = 1 AND ${column} > ${name}.address)
    FROM ${name} WHERE ${name}.address IS NOT NULL)`;

/**
 * Addresses and keys that open live rows name: fee payers of pending payments, operators of channels, pullers of subscriptions. Used by the
 * worker and by the pre-deployment check.
 */
export const NAMED_KEYS = `WITH RECURSIVE
${walk('pullers', 'subscription_authorizations', 'puller', 'ended_at IS NULL')},
${walk('operators', 'metered_sessions', 'operator', 'next_check_at IS NOT NULL')},
payers(purpose, address) AS (
  SELECT purpose, fee_payer FROM settlements WHERE status <> 'settled' AND next_check_at IS NOT NULL AND livemode = 1
  ORDER BY next_check_at LIMIT ${UNDER_WAY_MAX})
SELECT 'SUBSCRIPTION_KEYS' AS variable, address FROM pullers WHERE address IS NOT NULL
UNION SELECT 'CHANNEL_KEYS', address FROM operators WHERE address IS NOT NULL
UNION SELECT CASE purpose WHEN 'metered' THEN 'CHANNEL_KEYS' WHEN 'subscription' THEN 'SUBSCRIPTION_KEYS' ELSE 'FEE_PAYER_KEYS' END, address
FROM payers
ORDER BY variable, address`;

export const ringOf = (secret: string | undefined): Map<string, SigningKey> =>
  new Map(secret === undefined ? [] : keyRing(secret).map((key) => [base58.encode(key.publicKey), key]));

/** Lists named keys that the configuration lacks. Rows that name them wait until the key is restored. */
export const listMissingKeys = (config: Partial<Record<KeyVariable, string>>, named: readonly NamedKey[]): NamedKey[] =>
  named.filter(({ variable, address }) => !ringOf(config[variable]).has(address));
