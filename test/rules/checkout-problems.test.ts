import { expect, it } from 'vitest';
import { problemTitle } from '../../worker/pages/checkout/notes.tsx';
import en from '../../worker/pages/locales/en.json';

it('a page that does not know whether a wallet has paid never shows “Not paid”', () => {
  expect(en[problemTitle({ key: 'pUnclear' })]).toBe('Was it paid? We are looking');
  expect(en[problemTitle({ key: 'pRejected' })]).toBe('Not paid');
});
