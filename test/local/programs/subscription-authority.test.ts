import { getApproveInstruction, getTokenDecoder } from '@solana-program/token';
import { beforeAll, describe, expect, it } from 'vitest';
import {
  closeAuthorityInstruction,
  initAuthorityInstruction,
  revokeAuthorityInstruction,
} from '#solana/programs/subscriptions/instructions.ts';
import { CLOSE_AUTHORITY, INIT_AUTHORITY, REVOKE_AUTHORITY } from '#solana/programs/subscriptions/layouts.ts';
import { SUBSCRIPTIONS_EVENT_AUTHORITY } from '#solana/programs/subscriptions/subscription.ts';
import { TOKEN_2022_PROGRAM, TOKEN_PROGRAM, U64_MAX } from '../../../local/chain/ledger/network.ts';
import { deriveTokenAddress, newAddress, USDC } from '../chain/wallets.ts';
import {
  itRefuses,
  lastUnsigned,
  longer,
  openProgramChain,
  type ProgramChain,
  readOnly,
  shorter,
  swap,
  unsigned,
  useServer,
  withData,
} from './program-chain.ts';
import { BALANCE, openPlan, openSubscription, preparePlan, type SubscriptionWorld } from './subscription-world.ts';

const server = useServer();
const stranger = newAddress();

async function readApproval(world: SubscriptionWorld): Promise<[unknown, bigint]> {
  const data = await world.on.dataOf(await deriveTokenAddress(world.people.buyer.address));
  const { delegate, delegatedAmount } = getTokenDecoder().decode(data!);
  return [delegate.__option === 'Some' ? delegate.value : null, delegatedAmount];
}

describe('initSubscriptionAuthority', () => {
  let on: ProgramChain;
  let world: SubscriptionWorld;
  beforeAll(async () => {
    on = await openProgramChain(server());
    world = await preparePlan(on);
  });
  const built = () => initAuthorityInstruction(world.owner);

  it('the instruction creates the authority with its slot and an unlimited delegation of the token account', async () => {
    const made = await preparePlan(on);
    await on.holdClock();
    await made.authorize();
    const { buyer } = made.people;
    expect(await made.readAuthority()).toMatchObject({ user: buyer.address, mint: USDC, payer: buyer.address, initId: await on.slot() });
    expect(await readApproval(made)).toEqual([made.authority, U64_MAX]);
  });

  it('a repetition only renews the approval: same id and same payer, although a sponsor offers', async () => {
    const made = await (await preparePlan(on)).authorize();
    const first = await made.readAuthority();
    await on.moveSlots(10);
    const wallet = made.people.buyer;
    const source = await deriveTokenAddress(wallet.address);
    await on.send(getApproveInstruction({ source, delegate: made.people.merchant.address, owner: wallet, amount: 5n }));
    await on.send(initAuthorityInstruction(made.owner, made.people.sponsor.address));
    expect(await made.readAuthority()).toEqual(first);
    expect(await readApproval(made)).toEqual([made.authority, U64_MAX]);
  });

  it('a sponsor may pay the rent and is recorded as its recipient', async () => {
    const made = await preparePlan(on);
    const { buyer, sponsor } = made.people;
    const before = await on.lamportsOf(sponsor.address);
    await on.send(initAuthorityInstruction(made.owner, sponsor.address));
    const rent = await on.lamportsOf(made.authority);
    expect(await on.lamportsOf(sponsor.address)).toBe(before - rent);
    expect((await made.readAuthority()).payer).toBe(sponsor.address);
    expect(await on.judge(closeAuthorityInstruction(made.owner))).toBe(113);
    expect(await on.judge(closeAuthorityInstruction(made.owner, buyer.address))).toBe(130);
    await on.send(closeAuthorityInstruction(made.owner, sponsor.address));
    expect(await on.lamportsOf(sponsor.address)).toBe(before);
  });

  itRefuses(() => world, {
    'an account too few': [() => shorter(built()), 113],
    'a user who does not sign': [() => unsigned(built(), INIT_AUTHORITY, 'user'), 100],
    'a user who cannot pay': [() => readOnly(built(), INIT_AUTHORITY, 'user'), 131],
    'an authority that cannot be written': [() => readOnly(built(), INIT_AUTHORITY, 'authority'), 131],
    'a token account that cannot be written': [() => readOnly(built(), INIT_AUTHORITY, 'userTokenAccount'), 131],
    'a mint that is none': [async () => swap(built(), INIT_AUTHORITY, 'mint', await stranger), 109],
    'another token program': [() => swap(built(), INIT_AUTHORITY, 'tokenProgram', TOKEN_2022_PROGRAM), 105],
    'a token account that is none': [async () => swap(built(), INIT_AUTHORITY, 'userTokenAccount', await stranger), 110],
    'another system program': [() => swap(built(), INIT_AUTHORITY, 'systemProgram', TOKEN_PROGRAM), 104],
    'a sponsor who does not sign': [() => lastUnsigned(initAuthorityInstruction(world.owner, world.people.sponsor.address)), 100],
    'another address for the authority': [async () => swap(built(), INIT_AUTHORITY, 'authority', await stranger), 103],
    "somebody else's token account": [
      async () => swap(built(), INIT_AUTHORITY, 'userTokenAccount', await deriveTokenAddress(world.people.merchant.address)),
      130,
    ],
    'a token account that is not the associated one': [
      async () => {
        const elsewhere = await newAddress();
        on.put(elsewhere, TOKEN_PROGRAM, (await on.dataOf(await deriveTokenAddress(world.people.buyer.address)))!);
        return swap(built(), INIT_AUTHORITY, 'userTokenAccount', elsewhere);
      },
      108,
    ],
    'a token account of another mint': [
      async () => {
        const mint = await newAddress();
        const other = (await on.chain.result('local_fundToken', mint, world.people.buyer.address, '1')) as never;
        return swap(built(), INIT_AUTHORITY, 'userTokenAccount', other);
      },
      125,
    ],
  });
});

describe('closeSubscriptionAuthority', () => {
  let on: ProgramChain;
  let world: SubscriptionWorld;
  beforeAll(async () => {
    on = await openProgramChain(server());
    world = await openSubscription(on);
  });
  const built = () => closeAuthorityInstruction(world.owner);

  it('closing ends every collection, even under a recreated authority', async () => {
    const made = await openSubscription(on);
    const rent = await on.lamportsOf(made.authority);
    const before = await on.lamportsOf(made.people.buyer.address);
    await on.send(closeAuthorityInstruction(made.owner));
    expect(await on.lamportsOf(made.people.buyer.address)).toBe(before + rent);
    expect(await on.judge(made.collecting())).toBe(103);
    await on.warp(1);
    await made.authorize();
    expect(await on.judge(made.collecting())).toBe(136);
    expect(await made.held()).toEqual([BALANCE, 0n]);
  });

  itRefuses(() => world, {
    'an account too few': [() => shorter(built()), 113],
    'a user who does not sign': [() => unsigned(built(), CLOSE_AUTHORITY, 'user'), 100],
    'a user who cannot be paid': [() => readOnly(built(), CLOSE_AUTHORITY, 'user'), 131],
    'an authority that cannot be written': [() => readOnly(built(), CLOSE_AUTHORITY, 'authority'), 131],
    'an authority that is not there': [async () => swap(built(), CLOSE_AUTHORITY, 'authority', await stranger), 'InvalidAccountOwner'],
    'an account of another kind': [() => swap(built(), CLOSE_AUTHORITY, 'authority', world.plan), 111],
    'somebody else': [() => swap(built(), CLOSE_AUTHORITY, 'user', world.people.merchant.address), 130],
  });
});

describe('revokeSubscriptionAuthority', () => {
  let on: ProgramChain;
  let world: SubscriptionWorld;
  beforeAll(async () => {
    on = await openProgramChain(server());
    world = await openPlan(on);
  });
  const built = () => revokeAuthorityInstruction(world.owner);

  it('revoking removes the approval and closes the authority', async () => {
    const made = await openPlan(on);
    await on.send(revokeAuthorityInstruction(made.owner));
    expect(await readApproval(made)).toEqual([null, 0n]);
    expect(await on.dataOf(made.authority)).toBeNull();
  });

  it('revoking leaves the approval of another delegate', async () => {
    const made = await openPlan(on);
    const { buyer, merchant } = made.people;
    const source = await deriveTokenAddress(buyer.address);
    await on.send(getApproveInstruction({ source, delegate: merchant.address, owner: buyer, amount: 5n }));
    await on.send(revokeAuthorityInstruction(made.owner));
    expect(await readApproval(made)).toEqual([merchant.address, 5n]);
  });

  itRefuses(() => world, {
    'an account too few': [() => shorter(built()), 113],
    'a user who does not sign': [() => unsigned(built(), REVOKE_AUTHORITY, 'user'), 100],
    'a token account that cannot be written': [() => readOnly(built(), REVOKE_AUTHORITY, 'userTokenAccount'), 131],
    'an authority that cannot be written': [() => readOnly(built(), REVOKE_AUTHORITY, 'authority'), 131],
    'another token program': [() => swap(built(), REVOKE_AUTHORITY, 'tokenProgram', TOKEN_2022_PROGRAM), 105],
    'a mint that is none': [async () => swap(built(), REVOKE_AUTHORITY, 'mint', await stranger), 109],
    'a token account that is none': [async () => swap(built(), REVOKE_AUTHORITY, 'userTokenAccount', await stranger), 110],
    "somebody else's token account": [
      async () => swap(built(), REVOKE_AUTHORITY, 'userTokenAccount', await deriveTokenAddress(world.people.merchant.address)),
      130,
    ],
    'another account of the program': [() => swap(built(), REVOKE_AUTHORITY, 'authority', world.plan), 103],
  });
});

describe('instructions of the subscriptions program', () => {
  it('an unmodelled instruction and a direct event call are refused', async () => {
    const world = await openPlan(await openProgramChain(server()));
    const made = closeAuthorityInstruction(world.owner);
    // Instructions for delegations without a plan, which this model does not run.
    for (const left of [1, 2, 4, 5, 15, 16, 99]) expect(await world.on.judge(withData(made, [left]))).toBe(114);
    expect(await world.on.judge(withData(made, []))).toBe(114);
    expect(await world.on.judge(withData(made, [228]))).toBe('NotEnoughAccountKeys');
    const emission = shorter(withData(made, [228]));
    expect(await world.on.judge(emission)).toBe(600);
    const event = swap(emission, CLOSE_AUTHORITY, 'user', SUBSCRIPTIONS_EVENT_AUTHORITY);
    expect(await world.on.judge(unsigned(event, CLOSE_AUTHORITY, 'user'))).toBe('MissingRequiredSignature');
    expect(await world.on.judge(longer(emission, world.plan))).toBe('NotEnoughAccountKeys');
  });
});
