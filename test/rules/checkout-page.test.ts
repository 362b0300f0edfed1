import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { LOCALE_NAMES } from '#core/locales.ts';
import { holdsTurn, next, watchOf } from '../../worker/pages/checkout/machine/next.ts';
import { type PageState, paymentOf, requestOf, type Step } from '../../worker/pages/checkout/state.ts';
import { wordsOf } from '../../worker/pages/checkout/words.ts';
import { loadDictionary } from '../../worker/pages/locales/dictionaries.ts';
import { sayIn } from '../../worker/pages/parts/text.ts';
import { DEEDS, pageFacts } from '../support/fixtures/page-values.ts';
import { PageModel } from '../support/models/page-model.ts';
import { SOAK, testEnv } from '../support/runner/env.ts';

const texts = new Map(await Promise.all(LOCALE_NAMES.map(async (locale) => [locale, await loadDictionary(locale)] as const)));

/** Walks of random events through the page, its wallets and the service. */
const RUNS = 400 * SOAK;
/** A test run asks the same of every commit; a soak, or a caller that names a seed, asks something else. */
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

/** Whether what the page says it waits for is under way. */
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
    'opening page': ['readHandoff', 'lookElsewhere'],
    'beginning payment': ['beginPayment'],
    'checking signature': ['checkSignature'],
  };
  return effects[state.busyWith].some((kind) => isPending(model, kind));
}

/** The steps in which nothing is left to do on this page; their words say what to do elsewhere. */
const LAST: Step[] = ['unavailable', 'failed', 'expired', 'confirmed'];

/** Whether something the buyer can do changes more than what is said. */
function hasDeed({ facts, state, now }: PageModel): boolean {
  const seenOf = (page: PageState) => JSON.stringify({ ...page, problem: null });
  return DEEDS.some((deed) => seenOf(next(facts, state, { ...deed, at: now }).state) !== seenOf(state));
}

describe('whatever happens in whatever order', () => {
  it('the walks reach every step and every kind of answer that moves money', () => {
    const reached = new Set<string>();
    const reach = ({ state, refused }: PageModel): void => {
      reached.add(state.step);
      if (state.isTwice) reached.add('paid twice');
      if (refused.size > 0) reached.add('refused for good');
      if (state.step === 'choosing' && state.openRequest?.sends) reached.add('left while a wallet may send');
      if (state.step === 'choosing' && state.isUnclear) reached.add('unclear');
    };
    everyWalk(reach, { seed: 20260302 });
    const begun = ['choosing', 'unavailable', 'identity', 'connecting', 'waiting', 'left while a wallet may send', 'unclear'];
    const paid = ['sending', 'refused for good', 'seen', 'confirmed', 'paid twice', 'closing', 'expired'];
    expect([...reached].sort()).toEqual([...begun, ...paid].sort());
  });

  it('no page asks two wallets whose answers would both move money', () => {
    everyWalk((model) => {
      expect(model.movingPrompts().length).toBeLessThanOrEqual(1);
      // Every prompt that moves money is one the page knows of, and holds its turn for in all tabs.
      for (const { attempt } of model.movingPrompts()) expect(requestOf(model.state)?.attempt).toBe(attempt);
      if (requestOf(model.state)) expect(holdsTurn(model.state)).toBe(true);
    });
  });

  it('no payment under way is lost: the page, or what it stores, or the service knows of every transaction that went out', () => {
    everyWalk((model) => {
      for (const [txSignature, paymentId] of model.sent) {
        if (model.shown.has(paymentId) || model.toldSecond.has(txSignature)) continue;
        const known = model.payments.get(paymentId)!.tx_signature;
        // Another transaction of the same payment is what the service, and so the page, holds on to.
        expect(paymentOf(model.state)?.paymentId).toBe(paymentId);
        expect(model.stored?.payment.paymentId).toBe(paymentId);
        expect(model.stored?.payment.txSignature).toBeOneOf([txSignature, known]);
      }
    });
  });

  it('no transaction that was refused for good is taken for one that was sent', () => {
    everyWalk((model) => {
      const { refused, payments, payment, stored } = model;
      const known = [payment?.txSignature, stored?.payment.txSignature].filter((signature) => refused.has(signature ?? ''));
      expect(known.filter((signature) => ![...payments.values()].some(({ tx_signature }) => tx_signature === signature))).toEqual([]);
    });
  });

  it('every page the buyer waits at is waiting for something that is under way', () => {
    everyWalk((model) => expect(isAwaited(model), JSON.stringify(model.state)).toBe(true));
  });

  it('every page has a way out: a deed of the buyer, an answer that is under way, or the service that is asked again', () => {
    everyWalk((model) => {
      const { state } = model;
      if (LAST.includes(state.step) || watchOf(state) !== null) return;
      expect(hasDeed(model) || model.pending.length > 0, JSON.stringify(state)).toBe(true);
    });
  });

  it('no page is stuck once every answer is there and the time is over', () => {
    everyWalk(() => {}, {
      afterwards: (model) => {
        model.end();
        expect([...LAST, 'choosing', 'identity']).toContain(model.state.step);
        if (model.state.step === 'choosing') expect(model.state).toMatchObject({ busyWith: null, payment: null });
      },
    });
  });

  it('every page has its words in each language, with nothing left to fill in', () => {
    everyWalk((model) => {
      for (const locale of LOCALE_NAMES) {
        const say = sayIn(texts.get(locale)!);
        const { title, help, values } = wordsOf(model.state, { ...model.facts, locale });
        const said = [say(title, values), ...(help === null ? [] : [say(help, values)])];
        const problem = 'problem' in model.state ? model.state.problem : null;
        if (problem) said.push(say(problem.key, problem.values));
        for (const words of said) expect(words).toMatch(/^[^{}]+$/);
      }
    });
  });
});

/** A page as a buyer sees it: which step, of which payment. A wallet has to be asked again, and what was sent was seen. */
function pageOf(state: PageState): unknown {
  const step = { connecting: 'choosing', waiting: 'choosing', sending: 'seen' }[state.step as string] ?? state.step;
  const isUnclear = state.step === 'choosing' && state.isUnclear;
  return { step, paymentId: paymentOf(state)?.paymentId ?? null, isUnclear };
}

describe('a page that is loaded again', () => {
  it('is the same page, wherever it was left', () => {
    fc.assert(
      fc.property(walks, (choices) => {
        const model = new PageModel();
        walk(model, choices, () => {});
        const wasAsking = model.state.step === 'waiting';
        // A choice that had begun no payment is made again; so is the way out of what is over.
        if (!model.payment) return;
        model.look();
        const left = pageOf(model.state);
        model.open();
        model.look();
        const found = pageOf(model.state) as { step: Step };
        // In its last seconds a payment is only finished, not offered.
        if (!(wasAsking && found.step === 'closing')) expect(found).toEqual(left);
      }),
      { numRuns: RUNS * 2, seed: FIRST_SEED },
    );
  });
});
