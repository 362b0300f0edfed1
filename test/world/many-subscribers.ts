import { type Address, getAddressDecoder } from '@solana/kit';
import { AccountState, getTokenDecoder, getTokenEncoder } from '@solana-program/token';
import { base64 } from '#core/encoding.ts';
import { newAuthorizationId } from '#core/ids.ts';
import { HOUR, SECOND } from '#core/time.ts';
import { firstAttemptAt, luckOf } from '#rules/subscriptions/schedule.ts';
import { TOKEN_PROGRAM } from '#solana/assets.ts';
import { associatedTokenAddress } from '#solana/programs/derived-address.ts';
import { sightAddresses } from '#solana/programs/subscriptions/standing.ts';
import {
  decodeAuthority,
  decodeSubscription,
  encodeAuthority,
  encodeSubscription,
  findAuthorityAddress,
  findSubscriptionAddress,
  SUBSCRIPTIONS_PROGRAM,
} from '#solana/programs/subscriptions/subscription.ts';
import type { RawAccount } from './chain.ts';
import { PRICE, type SubscriptionLife } from './subscription-life.ts';

const PAGE = 500;

/**
 * So many subscribers like the one who is given, each with a wallet, an approval and a subscription of its own on the chain, and a row of its own:
 * their next periods begin one after the other over an hour that follows the model's own.
 */
export async function multiplySubscriber(model: SubscriptionLife, count: number): Promise<void> {
  const { w, subscriber } = model;
  const { route } = subscriber;
  const bytesOf = (account: RawAccount): Uint8Array => Uint8Array.from(base64.decode(account[2]));
  const [subscriptionAccount, , authorityAccount, holdingAccount] = await w.chain.accounts(sightAddresses(route));
  const subscription = read(decodeSubscription(bytesOf(subscriptionAccount!)));
  const authority = read(decodeAuthority(bytesOf(authorityAccount!)));
  const holding = getTokenDecoder().decode(bytesOf(holdingAccount!));
  const row = await model.read();
  const { results: columns } = await w.env.DB.prepare("SELECT name FROM pragma_table_info('subscription_authorizations')").all<{
    name: string;
  }>();
  const own = ['id', 'payment_id', 'subscriber_wallet', 'subscription_address', 'started_at', 'period_starts_at', 'period_ends_at'];
  const ownAlso = ['paid_through', 'next_attempt_at', 'collect_at', 'next_look_at', 'membership_id'];
  const copied = columns.map(({ name }) => name).filter((name) => ![...own, ...ownAlso].includes(name));
  const insert = `INSERT INTO subscription_authorizations (${[...own, ...ownAlso, ...copied].join()})
    SELECT one ->> 0, 'copy-' || (one ->> 0), one ->> 1, one ->> 2, one ->> 3, one ->> 3, one ->> 4, one ->> 4, one ->> 5, one ->> 5, one ->> 5, NULL,
      ${copied.map((name) => `a.${name}`).join()}
    FROM subscription_authorizations a, (SELECT value AS one FROM json_each(?1)) WHERE a.id = ?2`;
  for (let from = 0; from < count; from += PAGE) {
    const accounts: RawAccount[] = [];
    const rows: unknown[][] = [];
    for (let at = from; at < Math.min(count, from + PAGE); at += 1) {
      const wallet = getAddressDecoder().decode(crypto.getRandomValues(new Uint8Array(32))) as Address;
      const laterSeconds = Math.floor((at * HOUR) / SECOND / count);
      const startsAt = row.periodStartsAt! + laterSeconds * SECOND;
      const endsAt = row.periodEndsAt! + laterSeconds * SECOND;
      const id = newAuthorizationId(row.createdAt);
      const begun = { ...subscription, subscriber: wallet, payer: wallet, currentPeriodStartTs: BigInt(startsAt / SECOND) };
      const ata = associatedTokenAddress(wallet, route.mint, TOKEN_PROGRAM as Address);
      const delegate = findAuthorityAddress(wallet, route.mint).address;
      const held = {
        ...holding,
        owner: wallet,
        amount: 2n * PRICE,
        delegate,
        delegatedAmount: 2n ** 64n - 1n,
        state: AccountState.Initialized,
      };
      const subscriptionAddress = findSubscriptionAddress(route.plan, wallet).address;
      accounts.push(
        [subscriptionAddress, SUBSCRIPTIONS_PROGRAM, base64.encode(encodeSubscription(begun))],
        [delegate, SUBSCRIPTIONS_PROGRAM, base64.encode(encodeAuthority({ ...authority, user: wallet, payer: wallet }))],
        [ata, TOKEN_PROGRAM, base64.encode(Uint8Array.from(getTokenEncoder().encode(held)))],
      );
      rows.push([id, wallet, subscriptionAddress, startsAt, endsAt, firstAttemptAt(endsAt, luckOf(id))]);
    }
    await w.chain.putAccounts(accounts);
    await w.env.DB.prepare(insert).bind(JSON.stringify(rows), row.id).run();
  }
}

function read<T>(decoded: { ok: true; value: T } | { ok: false; reason: string }): T {
  if (!decoded.ok) throw new Error(decoded.reason);
  return decoded.value;
}
