// Loaded with the first message: an empty page needs neither.
export { default as MessageList } from "../messages/MessageList.svelte";
export { default as PrintedChat } from "./PrintedChat.svelte";
