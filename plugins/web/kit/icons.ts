import Activity from "@lucide/svelte/icons/activity";
import Archive from "@lucide/svelte/icons/archive";
import Bell from "@lucide/svelte/icons/bell";
import BookOpen from "@lucide/svelte/icons/book-open";
import Bot from "@lucide/svelte/icons/bot";
import Box from "@lucide/svelte/icons/box";
import Calendar from "@lucide/svelte/icons/calendar";
import ChartColumn from "@lucide/svelte/icons/chart-column";
import CircleUser from "@lucide/svelte/icons/circle-user";
import Clock from "@lucide/svelte/icons/clock";
import Contact from "@lucide/svelte/icons/contact-round";
import CodeXml from "@lucide/svelte/icons/code-xml";
import Database from "@lucide/svelte/icons/database";
import FileClock from "@lucide/svelte/icons/file-clock";
import FileText from "@lucide/svelte/icons/file-text";
import Brain from "@lucide/svelte/icons/brain";
import FlaskConical from "@lucide/svelte/icons/flask-conical";
import Folder from "@lucide/svelte/icons/folder";
import Globe from "@lucide/svelte/icons/globe";
import Hash from "@lucide/svelte/icons/hash";
import Image from "@lucide/svelte/icons/image";
import Info from "@lucide/svelte/icons/info";
import Key from "@lucide/svelte/icons/key-round";
import Library from "@lucide/svelte/icons/library";
import LogIn from "@lucide/svelte/icons/log-in";
import Megaphone from "@lucide/svelte/icons/megaphone";
import MessageSquare from "@lucide/svelte/icons/message-square";
import Mic from "@lucide/svelte/icons/mic";
import Notebook from "@lucide/svelte/icons/notebook-pen";
import Palette from "@lucide/svelte/icons/palette";
import Plug from "@lucide/svelte/icons/plug";
import GraduationCap from "@lucide/svelte/icons/graduation-cap";
import SquareSlash from "@lucide/svelte/icons/square-slash";
import Settings from "@lucide/svelte/icons/settings";
import Shield from "@lucide/svelte/icons/shield";
import Sliders from "@lucide/svelte/icons/sliders-horizontal";
import Sparkles from "@lucide/svelte/icons/sparkles";
import Square from "@lucide/svelte/icons/square";
import SquareTerminal from "@lucide/svelte/icons/square-terminal";
import UserPlus from "@lucide/svelte/icons/user-round-plus";
import Users from "@lucide/svelte/icons/users";
import Webhook from "@lucide/svelte/icons/webhook";
import Wrench from "@lucide/svelte/icons/wrench";
import type { Component } from "svelte";

/** The names by which plugins choose the icons of their pages and commands. */
const icons: Readonly<Record<string, Component<{ size?: number }>>> = {
  activity: Activity,
  archive: Archive,
  bell: Bell,
  book: BookOpen,
  bot: Bot,
  box: Box,
  brain: Brain,
  calendar: Calendar,
  chart: ChartColumn,
  user: CircleUser,
  clock: Clock,
  code: CodeXml,
  contact: Contact,
  database: Database,
  file: FileText,
  flask: FlaskConical,
  folder: Folder,
  globe: Globe,
  hash: Hash,
  image: Image,
  info: Info,
  key: Key,
  log: FileClock,
  library: Library,
  "log-in": LogIn,
  megaphone: Megaphone,
  chat: MessageSquare,
  mic: Mic,
  note: Notebook,
  palette: Palette,
  plug: Plug,
  settings: Settings,
  shield: Shield,
  skill: GraduationCap,
  slash: SquareSlash,
  sliders: Sliders,
  sparkles: Sparkles,
  terminal: SquareTerminal,
  "user-plus": UserPlus,
  users: Users,
  webhook: Webhook,
  wrench: Wrench,
};

/** The icon of that name; a plain square for names that are not in the set. */
export function findIcon(name: string | null | undefined): Component<{ size?: number }> {
  return icons[name ?? ""] ?? Square;
}
