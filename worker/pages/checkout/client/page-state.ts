import { serverNow } from '../../browser/call-api.ts';
import { PageHolder } from '../../browser/page-holder.ts';
import type { PageFacts } from '../facts.ts';
import type { PageEffect, PageNews } from '../machine/events.ts';
import { next } from '../machine/next.ts';
import { firstState, type PageState } from '../state.ts';

export type Report = (news: PageNews) => void;

export type CheckoutHolder = PageHolder<PageState, PageNews, PageEffect>;
export const holdCheckout = (facts: PageFacts): CheckoutHolder =>
  new PageHolder(firstState(facts), (state, news) => next(facts, state, { ...news, at: serverNow() }));
