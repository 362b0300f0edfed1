import { formatInstant, plainName } from '../../pages/parts/text.ts';
import type { Letter, LetterFacts } from '../letter.ts';

export const planDueLetter: Letter<LetterFacts['plan_due']> = {
  pref: 'renewals',
  to: 'owner',
  path: () => '/docs#plan',
  until: ({ through }) => through,
  values: ({ plan, through }, locale) => ({ plan: plainName(plan), through: formatInstant(locale, through, 'UTC') }),
  words: {
    en: {
      subject: 'Your {plan} plan ends soon',
      lines: ['Your {plan} plan is paid until {through}. Buy another 30 days before then to keep its limits; what is left is kept.'],
      button: 'What to do',
    },
    es: {
      subject: 'Su plan {plan} termina pronto',
      lines: [
        'Su plan {plan} está pagado hasta el {through}. Compre otros 30 días antes para conservar sus límites; lo que queda no se pierde.',
      ],
      button: 'Qué hacer',
    },
    de: {
      subject: 'Ihr Tarif {plan} endet bald',
      lines: [
        'Ihr Tarif {plan} ist bis {through} bezahlt. Kaufen Sie vorher weitere 30 Tage, um seine Grenzen zu behalten; die restliche Zeit bleibt erhalten.',
      ],
      button: 'Was zu tun ist',
    },
    fr: {
      subject: 'Votre forfait {plan} se termine bientôt',
      lines: [
        'Votre forfait {plan} est payé jusqu’au {through}. Achetez 30 jours de plus avant cette date pour garder ses limites ; le temps restant est conservé.',
      ],
      button: 'Que faire',
    },
    'pt-BR': {
      subject: 'Seu plano {plan} termina em breve',
      lines: [
        'Seu plano {plan} está pago até {through}. Compre mais 30 dias antes disso para manter os limites; o tempo restante é mantido.',
      ],
      button: 'O que fazer',
    },
    ja: {
      subject: '{plan}プランがまもなく終了します',
      lines: ['{plan}プランは{through}まで支払い済みです。それまでに30日分を購入すると上限を維持できます。残りの期間は引き継がれます。'],
      button: '対処方法を見る',
    },
  },
};
