import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { LOCALE_NAMES } from '#core/locales.ts';
import { holdsTurn, next, watchOf } from '../../worker/pages/checkout/machine/next.ts';
import { type PageState, paymentOf, requestOf, type Step } from '../../worker/pages/checkout/state.ts';
import { stepTextsOf } from '../../worker/pages/checkout/words.ts';
import { loadDictionary } from '../../worker/pages/locales/dictionaries.ts';
import { sayIn } from '../../worker/pages/parts/text.ts';
import { DEEDS, pageFacts } from '../support/fixtures/page-values.ts';
import { PageModel } from '../support/models/page-model.ts';
import { SOAK, testEnv } from '../support/runner/env.ts';

const texts = new Map(await Promise.all(LOCALE_NAMES.map(async (locale) => [locale, await loadDictionary(locale)] as const)));

const RUNS = 400 * SOAK;
/** A test run uses one seed for every commit. A soak or TEST_FUZZ_SEED uses another. */
const FIRST_SEED = Number(testEnv.TEST_FUZZ_SEED);
const walks = fc.array(fc.nat(10_000), { minLength: 5, maxLength: 120, size: 'max' });
const SHOPS = {
  desktop: pageFacts(),
  phone: pageFacts({ isPhone: true, assets: ['USDC'] }),
  handoff: pageFacts({ handoffToken: 'handoff' }),
};
const shops = fc.constantFrom(...(Object.keys(SHOPS) as (keyof typeof SHOPS)[]));

function walk(model: PageModel, choices: number[], check: (model: PageModel) => void): void {
  for (const choice of choices) {
    const options = model.options();
    options[choice % options.length]!();
    check(model);
  }
}

interface WalkTerms {
  afterwards?: (model: PageModel) => void;
  seed?: number;
}

const everyWalk = (check: (model: PageModel) => void, { afterwards = () => {}, seed = FIRST_SEED }: WalkTerms = {}): void =>
  fc.assert(
    fc.property(shops, walks, (shop, choices) => {
      const model = new PageModel(SHOPS[shop]);
      walk(model, choices, check);
      afterwards(model);
    }),
    { numRuns: RUNS, seed },
  );

const isPending = ({ pending }: PageModel, kind: string, attempt?: number | null): boolean =>
  pending.some((effect) => effect.kind === kind && (attempt === undefined || ('attempt' in effect && effect.attempt === attempt)));

function isAwaited(model: PageModel): boolean {
  const { state } = model;
  if (state.step === 'connecting') {
    const effects = {
      'opening wallet': 'openWallet',
      'beginning payment': 'beginPayment',
      'taking turn': 'takeTurn',
      'preparing transaction': 'prepareTransaction',
    };
    return isPending(model, effects[state.stage], state.attempt);
  }
  if (state.step === 'waiting') return model.prompts.some(({ attempt }) => attempt === state.request.attempt);
  if (state.step === 'sending') return isPending(model, 'sendTransaction');
  if (state.step === 'closing') return !state.isBusy || isPending(model, 'beginPayment', null);
  if (state.step === 'identity') return !state.isBusy || isPending(model, 'beginPayment', null);
  if (state.step !== 'choosing' || state.busyWith === null) return true;
  const effects = {
    'opening page': ['readHandoff', 'tryElsewhere'],
    'beginning payment': ['beginPayment'],
    'checking signature': ['checkSignature'],
  };
  return effects[state.busyWith].some((kind) => isPending(model, kind));
}

const LAST: Step[] = ['unavailable', 'failed', 'expired', 'confirmed'];

/** True if an action of the buyer changes more than the problem text. */
function hasDeed({ facts, state, now }: PageModel): boolean {
  const seenOf = (page: PageState) => JSON.stringify({ ...page, problem: null });
  return DEEDS.some((deed) => seenOf(next(facts, state, { ...deed, at: now }).state) !== seenOf(state));
}

describe('checkout page over random walks', () => {
  it('the walks cover every step and every answer that moves money', () => {
    const covered = new Set<string>();
    const cover = ({ state, refused }: PageModel): void => {
      covered.add(state.step);
      if (state.isTwice) covered.add('paid twice');
      if (refused.size > 0) covered.add('refused for good');
      if (state.step === 'choosing' && state.openRequest?.sends) covered.add('left while a wallet may send');
      if (state.step === 'choosing' && state.isUnclear) covered.add('unclear');
    };
    everyWalk(cover, { seed: 20260302 });
    const begun = ['choosing', 'unavailable', 'identity', 'connecting', 'waiting', 'left while a wallet may send', 'unclear'];
    const paid = ['sending', 'refused for good', 'seen', 'confirmed', 'paid twice', 'closing', 'expired'];
    expect([...covered].sort()).toEqual([...begun, ...paid].sort());
  });

  it('no page asks two wallets at once for answers that both move money', () => {
    everyWalk((model) => {
      expect(model.movingPrompts().length).toBeLessThanOrEqual(1);
      // Every prompt that moves money is known to the page, which holds the lock for that prompt in all tabs.
      for (const { attempt } of model.movingPrompts()) expect(requestOf(model.state)?.attempt).toBe(attempt);
      if (requestOf(model.state)) expect(holdsTurn(model.state)).toBe(true);
    });
  });

  it('every sent transaction is known to the page, to its storage or to the service', () => {
    everyWalk((model) => {
      for (const [txSignature, paymentId] of model.sent) {
        if (model.shown.has(paymentId) || model.reportedSecond.has(txSignature)) continue;
        const known = model.payments.get(paymentId)!.tx_signature;
        // The service and the page may hold another transaction of the payment.
        expect(paymentOf(model.state)?.paymentId).toBe(paymentId);
        expect(model.stored?.payment.paymentId).toBe(paymentId);
        expect(model.stored?.payment.txSignature).toBeOneOf([txSignature, known]);
      }
    });
  });

  it('no transaction refused for good counts as sent', () => {
    everyWalk((model) => {
      const { refused, payments, payment, stored } = model;
      const known = [payment?.txSignature, stored?.payment.txSignature].filter((signature) => refused.has(signature ?? ''));
      expect(known.filter((signature) => ![...payments.values()].some(({ tx_signature }) => tx_signature === signature))).toEqual([]);
    });
  });

  it('every waiting page waits for something that is under way', () => {
    everyWalk((model) => expect(isAwaited(model), JSON.stringify(model.state)).toBe(true));
  });

  it('every page has a way out: an action of the buyer, a pending answer or a poll of the service', () => {
    everyWalk((model) => {
      const { state } = model;
      if (LAST.includes(state.step) || watchOf(state) !== null) return;
      expect(hasDeed(model) || model.pending.length > 0, JSON.stringify(state)).toBe(true);
    });
  });

  it('no page is stuck after every answer arrived and the time is over', () => {
    everyWalk(() => {}, {
      afterwards: (model) => {
        model.end();
        expect([...LAST, 'choosing', 'identity']).toContain(model.state.step);
        if (model.state.step === 'choosing') expect(model.state).toMatchObject({ busyWith: null, payment: null });
      },
    });
  });

  it('every page has its texts in each language, with every placeholder filled', () => {
    everyWalk((model) => {
      for (const locale of LOCALE_NAMES) {
        const say = sayIn(texts.get(locale)!);
        const { title, help, values } = stepTextsOf(model.state, { ...model.facts, locale });
        const said = [say(title, values), ...(help === null ? [] : [say(help, values)])];
        const problem = 'problem' in model.state ? model.state.problem : null;
        if (problem) said.push(say(problem.key, problem.values));
        for (const text of said) expect(text).toMatch(/^[^{}]+$/);
      }
    });
  });
});

/** Reduces a page to the state after a reload: a wallet must be asked again, and a sent transaction counts as seen. */
function pageOf(state: PageState): unknown {
  const step = { connecting: 'choosing', waiting: 'choosing', sending: 'seen' }[state.step as string] ?? state.step;
  const isUnclear = state.step === 'choosing' && state.isUnclear;
  return { step, paymentId: paymentOf(state)?.paymentId ?? null, isUnclear };
}

describe('checkout page after a reload', () => {
  it('a reloaded page shows the same step, payment and uncertainty', () => {
    fc.assert(
      fc.property(walks, (choices) => {
        const model = new PageModel();
        walk(model, choices, () => {});
        const wasAsking = model.state.step === 'waiting';
        // A choice without a payment starts over, as does an ended payment.
        if (!model.payment) return;
        model.poll();
        const left = pageOf(model.state);
        model.open();
        model.poll();
        const found = pageOf(model.state) as { step: Step };
        // A payment in its last seconds is only finished, not offered.
        if (!(wasAsking && found.step === 'closing')) expect(found).toEqual(left);
      }),
      { numRuns: RUNS * 2, seed: FIRST_SEED },
    );
  });
});
