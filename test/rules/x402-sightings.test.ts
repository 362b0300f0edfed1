import { describe, expect, it } from 'vitest';
import type { RpcAnswer } from '#solana/node.ts';
import { readSightings } from '#solana/node-answers.ts';

const raw = { slot: 1, blockTime: null, transaction: { signatures: [], message: {} }, meta: null };
const answers = (value: unknown[], transactions: unknown[], statusSlot = 1000): RpcAnswer[] => [
  { result: { absoluteSlot: 1000, blockHeight: 900 } },
  { result: { context: { slot: statusSlot }, value } },
  ...transactions.map((result) => ({ result })),
];
const confirmed = { confirmationStatus: 'confirmed' };

describe('readSightings', () => {
  it.each([
    ['neither knows it', null, null, 'not_found'],
    ['only its status', confirmed, null, 'seen'],
    ['only the transaction', null, raw, 'seen'],
    ['both, but not its block yet', confirmed, raw, 'seen'],
  ])('one sighting from the answers of a node (%s)', (_, status, transaction, kind) => {
    expect(readSightings(answers([status], [transaction]), ['s'])).toEqual({ kind: 'sightings', finalHeight: 900, sightings: [{ kind }] });
  });

  it('an absent status is no proof if its slot is behind the height', () => {
    const finalHeight = (slot: number) => readSightings(answers([null], [null], slot), ['s']);
    expect([finalHeight(999), finalHeight(1000), finalHeight(1031)]).toMatchObject([
      { finalHeight: null },
      { finalHeight: 900 },
      { finalHeight: 900 },
    ]);
  });

  it('a missing, short or failed answer proves nothing', () => {
    const error = { error: { code: -32005, message: 'Node is behind' } };
    const [epoch, statuses, transaction] = answers([null], [null]);
    for (const bad of [[error, statuses!, transaction!], [epoch!, error, transaction!], [epoch!], answers([], [null])])
      expect(readSightings(bad, ['s'])).toMatchObject({ kind: 'unavailable' });
    expect(readSightings(answers([null], []), ['s'])).toMatchObject({ sightings: [{ kind: 'unavailable' }] });
  });

  it('an error about one transaction does not affect the others', () => {
    const error = { error: { code: -32015, message: 'Transaction version (1) is not supported' } };
    const [epoch, statuses, absent] = answers([confirmed, null], [null]);
    const read = readSightings([epoch!, statuses!, error, absent!], ['odd', 'absent']);
    const unreadable = { kind: 'unreadable', reason: '-32015 Transaction version (1) is not supported' };
    expect(read).toMatchObject({ kind: 'sightings', sightings: [unreadable, { kind: 'not_found' }] });
  });
});
