import { plainName } from '../../pages/parts/text.ts';
import type { Letter, LetterFacts } from '../letter.ts';

export const ticketAnsweredLetter: Letter<LetterFacts['ticket_answered']> = {
  pref: null,
  to: 'owner',
  path: () => '/dashboard',
  values: ({ ticket_id, subject }) => ({ ticket: plainName(ticket_id), subject: plainName(subject) }),
  quoted: ({ message }) => message,
  words: {
    en: {
      subject: 'Support answered: {subject}',
      lines: ['Support wrote to you about “{subject}”. Answer with POST /v1/support/tickets/{ticket}/message.'],
      button: 'Open the dashboard',
    },
    es: {
      subject: 'Soporte ha respondido: {subject}',
      lines: ['El equipo de soporte le ha escrito sobre «{subject}». Responda con POST /v1/support/tickets/{ticket}/message.'],
      button: 'Abrir el panel',
    },
    de: {
      subject: 'Antwort vom Support: {subject}',
      lines: ['Der Support hat Ihnen zu „{subject}“ geschrieben. Antworten Sie mit POST /v1/support/tickets/{ticket}/message.'],
      button: 'Dashboard öffnen',
    },
    fr: {
      subject: 'Réponse de l’assistance : {subject}',
      lines: ['L’assistance vous a écrit au sujet de « {subject} ». Répondez avec POST /v1/support/tickets/{ticket}/message.'],
      button: 'Ouvrir le tableau de bord',
    },
    'pt-BR': {
      subject: 'O suporte respondeu: {subject}',
      lines: ['O suporte escreveu para você sobre “{subject}”. Responda com POST /v1/support/tickets/{ticket}/message.'],
      button: 'Abrir o painel',
    },
    ja: {
      subject: 'サポートから回答がありました：{subject}',
      lines: ['「{subject}」についてサポートから回答がありました。返信は POST /v1/support/tickets/{ticket}/message で行えます。'],
      button: 'ダッシュボードを開く',
    },
  },
};
