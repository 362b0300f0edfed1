import { SQLiteSyncDialect } from 'drizzle-orm/sqlite-core';
import { describe, expect, it } from 'vitest';
import { MINTED, OF_ALL_MERCHANTS, ON_CHAIN, tenantTables, unboundParts } from '../support/faults/tenant-statements.ts';

const ALL = 'id, merchant_id, livemode, nonce';

describe('tenant statement check', () => {
  it.each([
    ['a mode in the select list alone', `select ${ALL} from payments where nonce = ?`],
    ['a mode in the returning list alone', `update refunds set seen_at = ? where nonce = ? returning ${ALL}`],
    ['a mode that is set and not asked for', 'update unmatched_payments set livemode = 1 where payer_wallet = ?'],
    ['a mode without a merchant', 'select 1 from payments where livemode = ? and nonce = ?'],
    ['a merchant without a mode', 'select 1 from memberships where merchant_id = ? and email = ?'],
    ['a merchant whose mode is left open', 'select 1 from webhook_endpoints where merchant_id = ?'],
    ['a name of a tenant’s among all live rows', 'select 1 from memberships where livemode = 1 and email = ?'],
    [
      'a reference of a tenant’s beside a name on the chain',
      'select 1 from payments where livemode = 1 and nonce = ? and customer_ref = ?',
    ],
    ['a mode of one alternative', 'select 1 from refunds where livemode = 1 and nonce = ? or nonce = ?'],
    ['a mode of the other table', 'select 1 from payments p join refunds r on r.nonce = p.nonce where p.livemode = 1 and p.nonce = ?'],
    ['a mode of the query around it', 'select 1 from events where livemode = 1 and id in (select id from payments where nonce = ?)'],
    ['a negated mode', 'select 1 from payments where not (livemode = 1) and nonce = ?'],
    ['a value within a function', 'select 1 from memberships where lower(email) = ?'],
    ['a range of a value', 'select 1 from memberships where email >= ? and email < ?'],
    ['a value on the right', 'select 1 from products where ? = payout_wallet'],
    ['one half of a union', 'select 1 from payments where livemode = 1 and nonce = ? union all select 1 from payments where nonce = ?'],
    ['a delete', 'delete from "settlements" where "settlements"."tx_signature" = ?'],
    ['the source of an insert', 'insert into guard select null from metered_sessions where channel_id = ? on conflict do nothing'],
  ])('the check refuses %s', (_, sql) => expect(unboundParts(sql)).not.toEqual([]));

  it.each([
    ['mode and merchant', `select ${ALL} from "payments" where ("payments"."merchant_id" = ? and "payments"."livemode" = ?) and nonce = ?`],
    ['both modes of a merchant', 'update products set price_amount = ? where merchant_id = ? and livemode in (0, 1) and payout_wallet = ?'],
    ['all that the real chain names', 'select 1 from refunds where livemode = 1 and nonce = ?'],
    ['the modes of each alternative', 'select 1 from refunds where (livemode = 1 and nonce = ?) or (livemode = 1 and tx_signature = ?)'],
    ['a channel, which one session of a mode holds', 'select 1 from metered_sessions where livemode = ? and channel_id = ?'],
    ['an id', `select ${ALL} from payments where id = ? and status = 'CONFIRMED'`],
    ['one id or another', 'select 1 from webhook_deliveries where event_id = ? or id = ?'],
    [
      'a slug, or a name of the merchant',
      'select 1 from products where slug = ? or (merchant_id = ? and livemode = ? and external_product_id = ?)',
    ],
    ['a row by its time and state', "select 1 from payments where status = 'CONFIRMED' and expires_at <= ? order by created_at limit ?"],
    ['a table of no tenant', 'select 1 from accounts where email_key = ?'],
    ['a condition without a table', 'insert into guard (veto) select null where ? > 3'],
  ])('the check passes %s', (_, sql) => expect(unboundParts(sql)).toEqual([]));

  it('every exception has a reason', () => {
    for (const { why } of [...MINTED, ...OF_ALL_MERCHANTS, ...ON_CHAIN]) expect(why.split(' ').length).toBeGreaterThan(5);
  });
});

describe('unique keys of tenant tables', () => {
  const keysOf = ({ columns, primaryKeys, indexes, uniqueConstraints }: (typeof tenantTables)[number]): string[][] => [
    ...columns.filter(({ primary, isUnique }) => primary || isUnique).map(({ name }) => [name]),
    ...primaryKeys.map((key) => key.columns.map(({ name }) => name)),
    ...uniqueConstraints.map((key) => key.columns.map(({ name }) => name)),
    ...indexes
      .filter(({ config }) => config.unique)
      .map(({ config }) =>
        config.columns.map((column) => ('name' in column ? String(column.name) : new SQLiteSyncDialect().sqlToQuery(column).sql)),
      ),
  ];
  const keys = tenantTables.flatMap((table) => {
    const hasMode = table.columns.some(({ name }) => name === 'livemode');
    return keysOf(table).map((key) => ({ table: table.name, key, hasMode }));
  });

  it('every unique key has the mode as its first or second column, or begins with a value unique to one row', () => {
    const isMinted = (column = '') => MINTED.some(({ names }) => names.test(column));
    const isApart = ({ key: [first, second], hasMode }: (typeof keys)[number]) =>
      isMinted(first) || (hasMode ? first === 'livemode' || second === 'livemode' : first === 'merchant_id');
    expect(keys.length).toBeGreaterThan(50);
    expect(keys.filter((key) => !isApart(key)).map(({ table, key }) => `${table} (${key})`)).toEqual([]);
  });
});
