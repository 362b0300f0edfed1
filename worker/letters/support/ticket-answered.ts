import { plainName } from '../../pages/parts/text.ts';
import type { Letter, LetterFacts } from '../letter.ts';

export const ticketAnsweredLetter: Letter<LetterFacts['ticket_answered']> = {
  pref: null,
  to: 'owner',
  path: () => '/docs#tickets',
  values: ({ ticket_id, subject }) => ({ ticket: plainName(ticket_id), subject: plainName(subject) }),
  quoted: ({ message }) => message,
  words: {
    en: {
      subject: 'Support answered: {subject}',
      lines: ['Support wrote to you about “{subject}”. Answer with POST /v1/support/tickets/{ticket}/message.'],
      button: 'What to do',
    },
    es: {
      subject: 'Soporte ha respondido: {subject}',
      lines: ['El equipo de soporte le ha escrito sobre «{subject}». Responda con POST /v1/support/tickets/{ticket}/message.'],
      button: 'Qué hacer',
    },
    de: {
      subject: 'Antwort vom Support: {subject}',
      lines: ['Der Support hat Ihnen zu „{subject}“ geschrieben. Antworten Sie mit POST /v1/support/tickets/{ticket}/message.'],
      button: 'Was zu tun ist',
    },
    fr: {
      subject: 'Réponse de l’assistance : {subject}',
      lines: ['L’assistance vous a écrit au sujet de « {subject} ». Répondez avec POST /v1/support/tickets/{ticket}/message.'],
      button: 'Que faire',
    },
    'pt-BR': {
      subject: 'O suporte respondeu: {subject}',
      lines: ['O suporte escreveu para você sobre “{subject}”. Responda com POST /v1/support/tickets/{ticket}/message.'],
      button: 'O que fazer',
    },
    ja: {
      subject: 'サポートから回答がありました：{subject}',
      lines: ['「{subject}」についてサポートから回答がありました。返信は POST /v1/support/tickets/{ticket}/message で行えます。'],
      button: '対処方法を見る',
    },
  },
};
