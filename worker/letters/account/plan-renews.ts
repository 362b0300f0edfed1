import { formatInstant, plainName } from '../../pages/parts/text.ts';
import type { Letter, LetterFacts } from '../letter.ts';

export const planRenewsLetter: Letter<LetterFacts['plan_renews']> = {
  pref: 'renewals',
  to: 'owner',
  path: () => '/docs#plan',
  until: ({ through }) => through,
  values: ({ plan, through }, locale) => ({ plan: plainName(plan), through: formatInstant(locale, through, 'UTC') }),
  words: {
    en: {
      subject: 'Your {plan} plan renews soon',
      lines: ['Your {plan} plan renews on {through}, and your card is charged then. Cancel before that if you do not want to go on.'],
      button: 'What to do',
    },
    es: {
      subject: 'Su plan {plan} se renueva pronto',
      lines: ['Su plan {plan} se renueva el {through} y entonces se cobrará a su tarjeta. Cancélelo antes si no desea continuar.'],
      button: 'Qué hacer',
    },
    de: {
      subject: 'Ihr Tarif {plan} verlängert sich bald',
      lines: [
        'Ihr Tarif {plan} verlängert sich am {through}; dann wird Ihre Karte belastet. Kündigen Sie vorher, wenn Sie ihn nicht behalten wollen.',
      ],
      button: 'Was zu tun ist',
    },
    fr: {
      subject: 'Votre forfait {plan} est bientôt renouvelé',
      lines: [
        'Votre forfait {plan} est renouvelé le {through} et votre carte sera alors débitée. Résiliez-le avant si vous ne souhaitez pas continuer.',
      ],
      button: 'Que faire',
    },
    'pt-BR': {
      subject: 'Seu plano {plan} será renovado em breve',
      lines: ['Seu plano {plan} será renovado em {through}, e seu cartão será cobrado. Cancele antes disso se não quiser continuar.'],
      button: 'O que fazer',
    },
    ja: {
      subject: '{plan}プランがまもなく更新されます',
      lines: ['{plan}プランは{through}に更新され、その際にカードへ請求されます。継続しない場合は、それまでに解約してください。'],
      button: '対処方法を見る',
    },
  },
};
