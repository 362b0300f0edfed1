import type { AccountFacts } from '../facts.ts';
import { startEmailLink } from './email-link.tsx';
import { startLogin } from './sign-in.tsx';

function start(facts: AccountFacts, panel: HTMLElement): void {
  switch (facts.page) {
    case 'login':
      startLogin(facts, panel);
      break;
    case 'verify':
    case 'reset':
    case 'sign_in':
    case 'invitation':
    case 'not_me':
      startEmailLink(facts, panel);
      break;
  }
}

const facts = document.getElementById('facts');
const panel = document.getElementById('panel');
if (facts?.textContent && panel) start(JSON.parse(facts.textContent) as AccountFacts, panel);
