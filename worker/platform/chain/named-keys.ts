import { keyRing, type SigningKey } from '#core/crypto.ts';
import { base58 } from '#core/encoding.ts';

/** Variables that hold rings of keys which pay and sign on the chain, and which rows name by their addresses. */
export const KEY_VARIABLES = ['FEE_PAYER_KEYS', 'CHANNEL_KEYS', 'SUBSCRIPTION_KEYS'] as const;
export type KeyVariable = (typeof KEY_VARIABLES)[number];

/** An address that an open row names, and the variable that has to hold its key. */
export interface NamedKey {
  variable: KeyVariable;
  address: string;
}

const UNDER_WAY = "status <> 'settled' AND next_check_at IS NOT NULL";

/** Each address once, by one read of an index for each, however many rows name it. */
const walk = (name: string, table: string, column: string, isOpen: string): string => `${name}(address) AS (
  SELECT min(${column}) FROM ${table} WHERE ${isOpen} AND livemode = 1
  UNION ALL SELECT (SELECT min(${column}) FROM ${table} WHERE ${isOpen} AND livemode = 1 AND ${column} > ${name}.address)
    FROM ${name} WHERE ${name}.address IS NOT NULL)`;

/**
 * Addresses and keys that open live rows still name: the fee payer of each payment under way, the operator of each channel, and the puller
 * of each subscription. One statement, for the worker and for the check before a deployment.
 */
export const NAMED_KEYS = `WITH RECURSIVE
${walk('pullers', 'subscription_authorizations', 'puller', 'ended_at IS NULL')},
${walk('operators', 'metered_sessions', 'operator', 'next_look_at IS NOT NULL')},
${walk('payers', 'settlements', 'fee_payer', UNDER_WAY)}
SELECT 'SUBSCRIPTION_KEYS' AS variable, address FROM pullers WHERE address IS NOT NULL
UNION SELECT 'CHANNEL_KEYS', address FROM operators WHERE address IS NOT NULL
UNION SELECT CASE (SELECT purpose FROM settlements WHERE ${UNDER_WAY} AND livemode = 1 AND fee_payer = payers.address LIMIT 1)
  WHEN 'metered' THEN 'CHANNEL_KEYS' WHEN 'subscription' THEN 'SUBSCRIPTION_KEYS' ELSE 'FEE_PAYER_KEYS' END, address
FROM payers WHERE address IS NOT NULL
ORDER BY variable, address`;

/** The keys of a ring by their addresses; none where the variable is not set. */
export const ringOf = (secret: string | undefined): Map<string, SigningKey> =>
  new Map(secret === undefined ? [] : keyRing(secret).map((key) => [base58.encode(key.publicKey), key]));

/** Those whose keys these variables lack: what names them waits until they are put back. Pure. */
export const listMissingKeys = (config: Partial<Record<KeyVariable, string>>, named: readonly NamedKey[]): NamedKey[] =>
  named.filter(({ variable, address }) => !ringOf(config[variable]).has(address));
