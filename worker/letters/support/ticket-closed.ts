import { plainName } from '../../pages/parts/text.ts';
import type { Letter, LetterFacts } from '../letter.ts';

export const ticketClosedLetter: Letter<LetterFacts['ticket_closed']> = {
  pref: null,
  to: 'owner',
  path: () => '/docs#tickets',
  values: ({ ticket_id, subject }) => ({ subject: plainName(subject ?? ticket_id) }),
  words: {
    en: {
      subject: 'Closed: {subject}',
      lines: ['The ticket “{subject}” was closed. Nothing more can be written on it; open another one if you need to.'],
      button: 'What to do',
    },
    es: {
      subject: 'Cerrado: {subject}',
      lines: ['El ticket «{subject}» se ha cerrado. Ya no se puede escribir en él; abre otro si lo necesitas.'],
      button: 'Qué hacer',
    },
    de: {
      subject: 'Geschlossen: {subject}',
      lines: ['Das Ticket „{subject}“ wurde geschlossen. Darin kann nichts mehr geschrieben werden; bei Bedarf öffnen Sie ein neues.'],
      button: 'Was zu tun ist',
    },
    fr: {
      subject: 'Fermé : {subject}',
      lines: ['Le ticket « {subject} » a été fermé. On ne peut plus y écrire ; ouvrez-en un autre si besoin.'],
      button: 'Que faire',
    },
    'pt-BR': {
      subject: 'Fechado: {subject}',
      lines: ['O ticket “{subject}” foi fechado. Não é mais possível escrever nele; abra outro se precisar.'],
      button: 'O que fazer',
    },
    ja: {
      subject: '終了：{subject}',
      lines: ['チケット「{subject}」は終了しました。これ以上書き込めません。必要なら新しく作成してください。'],
      button: '対処方法を見る',
    },
  },
};
