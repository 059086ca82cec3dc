package main

import (
	"fmt"
	"testing"
)

// TestDemoPage_VotesInTheChannel: a visitor votes on the card, as several people, and asks who
// is missing; the poll and its card follow.
func TestDemoPage_VotesInTheChannel(t *testing.T) {
	t.Parallel()
	o := operate(t, "QS_SYNC_MIN_GAP=20ms")
	o.Size(1440, 900, false)
	o.opensTheDemo()
	o.chooses("open")
	o.Await(openCard + `.textContent.includes("3/4 voted (1 pending)")`)
	o.pressesOnCard("Who is missing")
	o.Await(onlyYou + `.includes("3 of 4 have voted. Missing: @gm")`)
	o.pressesOnCard("Vote")
	o.Await(discordForm + `.open && ` + discordForm + `.textContent.includes("Vote: Session 12: The Sunken Keep")`)
	o.Want(discordForm + `.querySelectorAll(":checked").length === 0`)
	o.checks("pref0", 1)
	o.checks("feas0", 0)
	o.Click(`document.getElementById("discord-submit")`)
	o.Await(onlyYou + `.includes("Your vote (times in Europe/Berlin)") && ` + onlyYou + `.includes("★")`)
	o.Await(openCard + `.textContent.includes("4/4 voted")`)
	o.Await(`document.querySelectorAll("#poll .votes tbody tr:nth-child(2) .voter.preferred").length >= 1`)

	o.press("person-ana")
	o.Await(onlyYou + ` === ""`)
	o.pressesOnCard("Vote")
	o.Await(discordForm + `.open && ` + discordForm + `.querySelectorAll("fieldset :checked").length > 0`) // the vote as it is
	o.Await(`(document.querySelectorAll("#discord-form :checked").forEach((box) => { box.checked = false; }), true)`)
	o.checks("none", 0)
	o.Click(`document.getElementById("discord-submit")`)
	o.Await(onlyYou + `.includes("none of the times work for you")`)
	o.Shoot("discord-vote")

	o.press("person-gm")
	o.pressesOnCard("Manage")
	o.pressesHere("Finalise")
	o.Await(discordForm + `.open && ` + discordForm + `.textContent.includes("When does the session take place?")`)
	o.checks("slot", 0)
	o.Shoot("discord-finalise")
	o.Click(`document.getElementById("discord-submit")`)
	o.Await(onlyYou + `.includes("The session takes place")`)
	o.Await(openCard + `.textContent.includes("FINALIZED")`)
	o.Await(badge + ` === "Finalised"`)
	o.pressesOnCard("Manage")
	o.pressesHere("Cancel")
	o.Await(discordForm + `.open && ` + discordForm + `.querySelectorAll(":checked").length === 1`)
	o.Click(`document.getElementById("discord-submit")`)
	o.Await(badge + ` === "Cancelled"`)
	if said := o.Problems(); len(said) > 0 {
		t.Errorf("the console complains: %q", said)
	}
}

// TestDemoPage_TypesCommands: a visitor types the bot's commands, makes a poll by its form, and
// chooses polls from what the bot offers while one types.
func TestDemoPage_TypesCommands(t *testing.T) {
	t.Parallel()
	o := operate(t, "QS_SYNC_MIN_GAP=20ms")
	o.Size(1440, 900, false)
	o.opensTheDemo()
	o.types("/quest me")
	o.Await(onlyYou + `.includes("linked to the account gm")`)
	o.types("/dance")
	o.Await(`document.getElementById("status").textContent.includes("/quest poll, /quest who")`)

	o.types("/quest poll Session 13 zone:Asia/Tokyo")
	o.Await(discordForm + `.open && ` + discordForm + `.textContent.includes("In Asia/Tokyo")`)
	o.Want(discordForm + `.querySelector("input[name=title]").value === "Session 13"`)
	o.checks("days", 2)
	o.Await(`((` + discordForm + `.querySelector("input[name=times]").value = "19:00, 20:30"), true)`)
	o.Shoot("discord-poll")
	o.Click(`document.getElementById("discord-submit")`)
	o.Await(onlyYou + `.includes("Session 13 is made")`)
	o.Await(`[...document.querySelectorAll("#discord .message .embed")].some((one) => one.textContent.includes("Session 13"))`)

	o.Await(typedLine("/quest who 13") + `.dispatchEvent(new Event("input"))`)
	o.Await(`[...document.querySelectorAll("#discord-choices option")].some((one) => one.value === "/quest who Session 13 (open)")`)
	o.types("/quest who Session 13 (open)")
	o.Await(onlyYou + `.includes("0 of 4 have voted")`)
	o.types("/quest manage poll:Session 13")
	o.pressesHere("Cancel")
	o.Await(discordForm + `.open && ` + discordForm + `.textContent.includes("everybody is told")`)
	o.Click(`[...` + discordForm + `.querySelectorAll("button")].at(-1)`)

	o.press("person-ana")
	o.types("/quest manage poll:Session 13")
	o.Await(onlyYou + `.includes("No poll of yours fits here")`)
	if said := o.Problems(); len(said) > 0 {
		t.Errorf("the console complains: %q", said)
	}
}

// typedLine is the line of commands, with a text in it.
func typedLine(text string) string {
	return fmt.Sprintf(`Object.assign(document.getElementById("discord-command"), { value: %q })`, text)
}

// types sends a command of the bot.
func (o *operated) types(text string) {
	o.t.Helper()
	o.Await(`(` + typedLine(text) + `, document.getElementById("discord-send").click(), true)`)
}

const (
	discordForm = `document.getElementById("discord-form")`
	onlyYou     = `document.querySelector("#discord .only-you").textContent`
	openCard    = `[...document.querySelectorAll("#discord .message")].find((one) => one.querySelector(".embed")?.textContent.includes("The Sunken Keep"))`
)

// pressesOnCard presses a button of the open poll's card, which an edit may move meanwhile.
func (o *operated) pressesOnCard(label string) {
	o.t.Helper()
	o.Await(fmt.Sprintf(`(([...%s.querySelectorAll("button")].find((one) => one.textContent === %q)).click(), true)`, openCard, label))
}

// pressesHere presses a button of what the visitor alone sees.
func (o *operated) pressesHere(label string) {
	o.t.Helper()
	o.Await(fmt.Sprintf(`(([...document.querySelectorAll("#discord .only-you button")].find((one) => one.textContent === %q)).click(), true)`, label))
}

// checks checks a box of the open form.
func (o *operated) checks(name string, at int) {
	o.t.Helper()
	o.Await(fmt.Sprintf(`(%s.querySelectorAll("input[name=%s]")[%d].click(), true)`, discordForm, name, at))
}
