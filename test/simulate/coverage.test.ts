import { describe, expect, it } from 'vitest';
import { SimulatedDatabase } from '../../local/simulate/platform/database.ts';
import { Interleavings, subjectsOf } from '../../local/simulate/runtime/counting/interleavings.ts';

const running = new Set<unknown>();

function invocationOf(name: string, subjects: string[]) {
  const invocation = { name, subjects, calls: 0, isAlive: true, isolate: { running } };
  running.add(invocation);
  return invocation;
}

describe('Interleavings', () => {
  it('counts a verb that made a step on the subject between two steps of another', () => {
    const interleavings = new Interleavings();
    const [consume, refund, other] = [invocationOf('consume', ['a']), invocationOf('refund', ['a', 'b']), invocationOf('read', ['b'])];
    for (const one of [consume, refund, other]) interleavings.step(one);
    consume.calls = 1;
    interleavings.step(consume);
    expect([...interleavings.counts]).toEqual([['consume @ 1 | refund', 1]]);
  });

  it('counts no verb of an invocation that had ended before', () => {
    const interleavings = new Interleavings();
    const [ended, next] = [invocationOf('consume', ['a']), invocationOf('refund', ['a'])];
    interleavings.step(ended);
    running.delete(ended);
    interleavings.step(next);
    interleavings.step(next);
    expect([...interleavings.counts]).toEqual([]);
  });
});

describe('subjectsOf', () => {
  it('reads ids from the path and from the body', () => {
    expect(subjectsOf('/v1/products/p/weather/connect?x=1', '{"payment_id":"p-1","ids":["q"],"note":"n"}')).toEqual(['weather', 'p-1']);
    expect(subjectsOf('/v1/payments/01a', undefined)).toEqual(['01a']);
  });
});

describe('a database that refuses writes', () => {
  it('answers reads, and fails each write with the text of the refusal', async () => {
    let refusal: string | null = null;
    const database = new SimulatedDatabase({ refusal: () => refusal });
    database.migrate('CREATE TABLE t (a)');
    const db = database.binding();
    await db.prepare('INSERT INTO t VALUES (1)').run();
    refusal = 'attempt to write a readonly database: SQLITE_READONLY';
    await expect(db.prepare('INSERT INTO t VALUES (2) RETURNING a').all()).rejects.toThrow(`D1_ERROR: ${refusal}`);
    await expect(db.batch([db.prepare('SELECT a FROM t'), db.prepare('DELETE FROM t')])).rejects.toThrow('SQLITE_READONLY');
    expect(await db.prepare('SELECT a FROM t').raw()).toEqual([[1]]);
  });
});
